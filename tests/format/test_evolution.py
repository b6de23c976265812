"""Columns of files of older schemas, as the current schema has them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC

import pyarrow as pa
import pytest

from lakebed.errors import InvalidDataError, UnsupportedError
from lakebed.format.arrow.types import to_arrow_type
from lakebed.format.arrow.typing import ArrowArray, ArrowColumn
from lakebed.format.evolution import FileColumn, file_columns
from lakebed.format.key_value import SEQUENCE_NUMBER, VALUE_KIND
from lakebed.format.schema import TableSchema
from lakebed.format.type_text import parse_type
from lakebed.format.types import ArrayType, DataField, DataType, MapType, RowType

KEY = DataField(id=0, name="k", type=parse_type("INT NOT NULL"))


def field(number: int, name: str, kind: str | DataType) -> DataField:
    return DataField(id=number, name=name, type=parse_type(kind) if isinstance(kind, str) else kind)


def row(*fields: DataField) -> RowType:
    return RowType(fields=fields)


def schema_of(*fields: DataField, primary_keys: tuple[str, ...] = ()) -> TableSchema:
    return TableSchema(
        id=0,
        fields=fields,
        highest_field_id=99,
        partition_keys=(),
        primary_keys=primary_keys,
        options={},
        comment=None,
        time_millis=0,
    )


def column(now: DataField, then: DataField) -> FileColumn:
    return file_columns([now], schema_of(then))[0]


def converted(now: DataField, then: DataField, values: Sequence[object]) -> ArrowColumn:
    array: ArrowArray = pa.array(values, to_arrow_type(then.type))
    found = column(now, then).convert(array, time_zone=UTC)
    assert found.type == to_arrow_type(now.type)
    return found


def test_a_column_is_found_by_id_whatever_its_name() -> None:
    then = schema_of(field(1, "a", "INT"), field(2, "b", "STRING"))
    renamed, added, moved = file_columns(
        [field(2, "a", "STRING"), field(3, "b", "INT"), field(1, "c", "INT")], then
    )
    assert (renamed.name_in_file, added.name_in_file, moved.name_in_file) == ("b", None, "a")
    assert not any(found.as_stored for found in (renamed, added, moved))
    assert file_columns([field(1, "a", "INT NOT NULL")], then)[0].as_stored


def test_system_columns_are_in_files_of_tables_with_a_key_only() -> None:
    keyed = file_columns([SEQUENCE_NUMBER, VALUE_KIND], schema_of(KEY, primary_keys=("k",)))
    assert all(found.as_stored for found in keyed)
    plain = file_columns([SEQUENCE_NUMBER, VALUE_KIND], schema_of(KEY))
    assert [found.in_file for found in plain] == [None, None]


def test_fields_of_a_row_are_renamed_moved_cast_added_and_dropped_by_id() -> None:
    then = field(
        1, "r", row(field(2, "x", "INT"), field(3, "y", "STRING"), field(4, "z", "DOUBLE"))
    )
    now = field(
        1, "r", row(field(3, "x", "STRING"), field(5, "n", "DATE"), field(2, "w", "BIGINT"))
    )
    rows = [{"x": 1, "y": "one", "z": 0.5}, None, {"x": None, "y": None, "z": None}]
    assert converted(now, then, rows).to_pylist() == [
        {"x": "one", "n": None, "w": 1},
        None,
        {"x": None, "n": None, "w": None},
    ]
    assert not column(now, then).as_stored


def test_rows_within_arrays_and_maps_change_too() -> None:
    old, new = row(field(2, "x", "INT")), row(field(3, "y", "INT"), field(2, "x", "STRING"))
    key = parse_type("STRING NOT NULL")
    arrays = [[{"x": 1}, None], None, []]
    found = converted(
        field(1, "a", ArrayType(element=new)), field(1, "a", ArrayType(element=old)), arrays
    )
    assert found.to_pylist() == [[{"y": None, "x": "1"}, None], None, []]
    maps = [None, [("k", {"x": 1}), ("l", None)], []]
    found = converted(
        field(1, "m", MapType(key=key, value=new)), field(1, "m", MapType(key=key, value=old)), maps
    )
    assert found.to_pylist() == [None, [("k", {"y": None, "x": "1"}), ("l", None)], []]


def test_slices_and_chunks_are_converted_like_the_whole() -> None:
    then = field(1, "a", ArrayType(element=parse_type("INT")))
    now = field(1, "a", ArrayType(element=parse_type("STRING")))
    whole: ArrowArray = pa.array([[1], None, [2, None], [3]], to_arrow_type(then.type))
    chunks = pa.chunked_array([whole.slice(1, 2), whole.slice(3)])
    found = column(now, then).convert(chunks, time_zone=UTC)
    assert found.to_pylist() == [None, ["2", None], ["3"]]


def test_what_stands_below_a_null_is_not_cast() -> None:
    text: ArrowArray = pa.array(["no number", "2"])
    kind = to_arrow_type(row(field(2, "x", "STRING")))
    assert isinstance(kind, pa.StructType)
    structs = pa.StructArray.from_arrays([text], fields=list(kind), mask=pa.array([True, False]))
    then = field(1, "r", row(field(2, "x", "STRING")))
    now = field(1, "r", row(field(2, "x", "INT")))
    found = column(now, then).convert(structs, time_zone=UTC)
    assert found.to_pylist() == [None, {"x": 2}]


def test_a_row_of_which_the_file_has_no_field_of_today_is_null_as_a_whole() -> None:
    then, now = row(field(2, "x", "INT")), row(field(3, "y", "INT"))
    assert column(field(1, "r", now), field(1, "r", then)).in_file is None
    arrays = ArrayType(element=now), ArrayType(element=then)
    assert column(field(1, "a", arrays[0]), field(1, "a", arrays[1])).in_file is None
    wide_now = row(field(4, "k", "INT"), field(5, "r", now))
    wide_then = row(field(4, "k", "INT"), field(5, "r", then))
    found = converted(field(1, "w", wide_now), field(1, "w", wide_then), [{"k": 1, "r": {"x": 2}}])
    assert found.to_pylist() == [{"k": 1, "r": None}]


def test_a_type_without_a_cast_to_that_of_today_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match=r"column 'c' was DOUBLE .* BOOLEAN now"):
        column(field(1, "c", "BOOLEAN"), field(1, "c", "DOUBLE"))
    then, now = row(field(2, "x", "DATE")), row(field(2, "x", "INT"))
    with pytest.raises(UnsupportedError, match=r"column 'r\.x' was DATE"):
        column(field(1, "r", now), field(1, "r", then))
    keys = (MapType(key=parse_type(kind), value=KEY.type) for kind in ("INT", "BIGINT"))
    old, new = (field(1, "m", kind) for kind in keys)
    with pytest.raises(UnsupportedError, match="column 'm'"):
        column(new, old)


def test_a_value_that_cannot_be_cast_is_shown_with_its_column() -> None:
    with pytest.raises(InvalidDataError, match="column 'c': the text 'x' is not a whole number"):
        converted(field(1, "c", "INT"), field(1, "b", "STRING"), ["1", "x"])


def test_nullability_alone_changes_nothing() -> None:
    then = field(1, "r", row(field(2, "x", "INT NOT NULL")))
    now = field(1, "r", row(field(2, "x", "INT")))
    assert column(replace(now, description="said later"), then).as_stored
