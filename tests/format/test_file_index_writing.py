"""Indexes that Lakebed makes: byte for byte Paimon's own, and right on any rows."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from format.test_file_index import (
    CONTAINER,
    INDEXES,
    conditions,
    name_of,
    parsed,
    true_rows,
    type_of,
    values_of,
)
from lakebed.errors import InvalidArgumentError, InvalidTableError, UnsupportedError
from lakebed.format.arrow.atoms import arrow_value_type
from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.file_index.bitmap import BitmapIndex
from lakebed.format.file_index.bloom import BloomFilter, bloom_hashes
from lakebed.format.file_index.building import FileIndexes
from lakebed.format.file_index.container import container_bytes, embedded_container
from lakebed.format.file_index.evaluation import FileIndex
from lakebed.format.file_index.range_bitmap import RangeBitmap
from lakebed.format.file_index.value_index import ValueIndex
from lakebed.format.schema import TableSchema
from lakebed.format.schema_builder import build_schema
from lakebed.format.schema_definition import schema
from lakebed.format.type_text import format_type
from lakebed.format.types import AtomicType, TypeRoot
from support.golden_files import GoldenFiles

VARIANTS: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("bloom-filter", ""): {"items": "20", "fpp": "0.01"},
    ("bitmap", "v1"): {"version": "1"},
    ("bitmap", "v2"): {},
    ("bitmap", "v2 small blocks"): {"index-block-size": "128b"},
    ("bsi", ""): {},
    ("range-bitmap", ""): {},
    ("range-bitmap", "small chunks"): {"chunk-size": "32b"},
}
CUT = {(vector["case"], vector["index"]) for vector in INDEXES if "timestamp 9" in vector["case"]}
CAN_BE_MADE = [
    vector
    for vector in INDEXES
    if vector["index"] == "bloom-filter" or (vector["case"], vector["index"]) not in CUT
]


def table_of(columns: Mapping[str, str]) -> TableSchema:
    return build_schema(
        schema(list(columns.items())).fields,
        options={},
        time_millis=0,
        primary_keys=(),
        partition_keys=(),
        comment=None,
    )


def indexes_of(
    kind: AtomicType | str, index_type: str, options: Mapping[str, str] | None = None
) -> FileIndexes:
    """Of one column `c`."""
    text = kind if isinstance(kind, str) else format_type(kind)
    given = {f"file-index.{index_type}.c.{key}": text for key, text in (options or {}).items()}
    given[f"file-index.{index_type}.columns"] = "c"
    found = FileIndexes.of(table_of({"c": text}), given)
    assert found is not None
    return found


def index_of(values: ArrowArray, indexes: FileIndexes) -> FileIndex:
    """The values come in two parts."""
    builder, half = indexes.builder(), len(values) // 2
    for part in (values.slice(0, half), values.slice(half)):
        builder.add(pa.table({"other": part, "c": part}))
    (_, kind) = indexes.indexes[0]
    fields = table_of({"c": format_type(kind)}).fields
    return FileIndex(
        container=embedded_container(builder.finish(), "data-a.parquet"),
        row_count=len(values),
        fields={"c": fields[0]},
    )


@pytest.mark.parametrize("vector", CAN_BE_MADE, ids=name_of)
def test_an_index_is_the_one_that_the_real_writer_makes(vector: dict[str, Any]) -> None:
    index_type, values, kind = vector["index"], values_of(vector), type_of(vector)
    options = VARIANTS[index_type, vector["variant"]]
    index = index_of(values, indexes_of(kind, index_type, options))
    made, real = index.container.index_bytes("c", index_type), bytes.fromhex(vector["hex"])
    if index_type != "bitmap":
        assert made == real
        return
    # The real writer's bitmaps, and the values of its first version, are in no order.
    assert made is not None
    assert len(made) == len(real)
    for text in conditions(kind, values):
        predicate = parsed(text, kind)
        mask = index.row_mask(predicate)
        assert mask is not None, text
        assert mask.tolist() == true_rows(predicate, values).tolist(), text


def test_a_container_is_the_one_that_the_real_writer_makes() -> None:
    real = embedded_container(CONTAINER, "a")
    (column,) = set(real.places) - {"m[k]"}
    indexes = {kind: real.index_bytes(column, kind) or b"" for kind in real.places[column]}
    made = container_bytes({column: indexes})
    again = embedded_container(made, "a")
    assert {kind: again.index_bytes(column, kind) for kind in indexes} == indexes
    name = "cöl\N{GRINNING FACE}\0r".encode("utf-16-be")
    assert column.encode("utf-16-be") == name
    start = CONTAINER.index(b"c\xc3\xb6l")
    assert made[20 : 22 + 14] == CONTAINER[start - 2 : start + 14]
    assert container_bytes({}) == CONTAINER[:12] + (24).to_bytes(4, "big") + bytes(8)


@pytest.mark.parametrize("number", [0, 1])
def test_the_indexes_of_a_golden_table_come_out_again(number: int) -> None:
    golden = GoldenFiles("append_index")
    file_name = golden.file_names[number]
    real_data = golden.entries["embedded_file_index"][number].as_py()
    if real_data is None:
        real_data = Path(golden.paths.bucket("", 0), f"{file_name}.index").read_bytes()
    indexes = FileIndexes.of(golden.schema, golden.schema.options)
    assert indexes is not None
    builder = indexes.builder()
    builder.add(golden.rows_of(file_name))
    data = builder.finish()
    made, real = embedded_container(data, file_name), embedded_container(real_data, file_name)
    assert len(data) == len(real_data)
    assert {name: set(kinds) for name, kinds in made.places.items()} == {
        name: set(kinds) for name, kinds in real.places.items()
    }
    for name, kinds in real.places.items():
        for kind in set(kinds) - {"bitmap"}:
            assert made.index_bytes(name, kind) == real.index_bytes(name, kind)


NUMBERS = st.one_of(st.none(), st.integers(-(2**63) + 1, 2**63 - 1), st.integers(-9, 9))
TEXTS = st.one_of(st.none(), st.text(max_size=3), st.text(max_size=60))
FLOATS = st.one_of(st.none(), st.floats(), st.sampled_from([0.0, -0.0, 1.5]))
DECIMALS = st.one_of(st.none(), st.decimals(-9999, 9999, places=2))


@pytest.mark.parametrize(
    "case",
    [
        ("BIGINT", NUMBERS, ("0", "-9", "9223372036854775807", "77")),
        ("DECIMAL(18, 2)", DECIMALS, ("0.00", "-1.50", "9999.00")),
        ("STRING", TEXTS, ("''", "'a'", "'0'", "'zzz'")),
        ("DOUBLE", FLOATS, ("0.0", "-0.0", "1.5", "CAST('NaN' AS DOUBLE)")),
    ],
    ids=lambda case: case[0],
)
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_an_index_of_any_values_answers_as_the_rows_do(
    case: tuple[str, st.SearchStrategy[Any], tuple[str, ...]], data: st.DataObject
) -> None:
    kind, values, constants = case
    wanted = table_of({"c": kind}).fields[0].type
    assert isinstance(wanted, AtomicType)
    drawn = data.draw(st.lists(values, max_size=40))
    repeats = data.draw(st.lists(st.sampled_from(drawn), max_size=40)) if drawn else []
    column: ArrowArray = pa.array(drawn + repeats, arrow_value_type(wanted))
    for index_type, options in TYPES_OF_ROWS:
        if wanted.root in NOT_IN.get(index_type, ()):
            continue
        index = index_of(column, indexes_of(kind, index_type, options))
        for constant in constants:
            for text in (f"c = {constant}", f"c < {constant}", f"c >= {constant}", "c IS NULL"):
                mask = index.row_mask(parsed(text, wanted))
                assert mask is not None
                assert mask.tolist() == true_rows(parsed(text, wanted), column).tolist()


TYPES_OF_ROWS = [
    ("bitmap", {}),
    ("bitmap", {"version": "1"}),
    ("bitmap", {"index-block-size": "40b"}),
    ("bsi", {}),
    ("range-bitmap", {}),
    ("range-bitmap", {"chunk-size": "10b"}),
]
NOT_IN: Mapping[str, set[TypeRoot]] = {
    "bitmap": {TypeRoot.DECIMAL},
    "bsi": {TypeRoot.VARCHAR, TypeRoot.DOUBLE},
}


@settings(deadline=None, max_examples=25)
@given(st.lists(TEXTS), st.integers(1, 50))
def test_a_bloom_filter_holds_all_values_that_were_added(
    texts: list[str | None], items: int
) -> None:
    column: ArrowArray = pa.array(texts, pa.string())
    index = index_of(column, indexes_of("STRING", "bloom-filter", {"items": str(items)}))
    kind = table_of({"c": "STRING"}).fields[0].type
    assert isinstance(kind, AtomicType)
    for text in {text for text in texts if text is not None and not {"'", "\\"} & set(text)}:
        assert index.may_match(parsed(f"c = '{text}'", kind))


def test_a_bloom_filter_takes_few_other_values_for_its_own() -> None:
    column: ArrowArray = pa.array(np.arange(0, 200_000, 2))
    options = {"items": "100000", "fpp": "0.05"}
    indexes = indexes_of("BIGINT", "bloom-filter", options)
    data = index_of(column, indexes).container.index_bytes("c", "bloom-filter")
    assert data is not None
    filter_, (_, kind) = BloomFilter.parse(data, "a"), indexes.indexes[0]
    others = bloom_hashes(pa.array(np.arange(1, 200_000, 2)), kind)
    own = bloom_hashes(column, kind)
    assert own is not None
    assert others is not None
    assert filter_.may_hold(own).all()
    assert 0.03 < filter_.may_hold(others).mean() < 0.06


def test_many_rows_are_found_in_bitmaps_of_every_sort() -> None:
    # 300,000 rows: long runs, every third row, and one value in few rows.
    numbers = np.arange(300_000) % 3
    numbers[100_000:180_000] = 7
    numbers[[5, 70_000, 299_999]] = 9
    column: ArrowArray = pa.array(numbers, mask=np.arange(300_000) % 1000 == 1)
    kind = table_of({"c": "BIGINT"}).fields[0].type
    assert isinstance(kind, AtomicType)
    for index_type in ("bitmap", "bsi", "range-bitmap"):
        index = index_of(column, indexes_of("BIGINT", index_type))
        for text in ("c = 1", "c = 7", "c = 9", "c > 1", "c IS NULL"):
            mask = index.row_mask(parsed(text, kind))
            assert mask is not None
            assert (mask == true_rows(parsed(text, kind), column)).all()


def test_a_value_larger_than_a_block_or_chunk_has_one_of_its_own() -> None:
    column: ArrowArray = pa.array(["a", "b" * 500, "c", "b" * 500, "d"])
    kind = table_of({"c": "STRING"}).fields[0].type
    assert isinstance(kind, AtomicType)
    sizes = {"bitmap": {"index-block-size": "64b"}, "range-bitmap": {"chunk-size": "64b"}}
    for index_type, options in sizes.items():
        index = index_of(column, indexes_of("STRING", index_type, options))
        for text in (f"c = '{'b' * 500}'", "c = 'c'", "c > 'a'"):
            mask = index.row_mask(parsed(text, kind))
            assert mask is not None
            assert (mask == true_rows(parsed(text, kind), column)).all()


def test_every_nan_is_the_same_value() -> None:
    bits = np.array([0x7FF8000000000000, 0x7FF8000000000001, -1, 0], dtype=np.int64)
    column: ArrowArray = pa.array(bits.view(np.float64))
    kind = table_of({"c": "DOUBLE"}).fields[0].type
    assert isinstance(kind, AtomicType)
    for index_type in ("bitmap", "range-bitmap"):
        index = index_of(column, indexes_of("DOUBLE", index_type))
        data = index.container.index_bytes("c", index_type)
        assert data is not None
        parsed_index: ValueIndex = (
            BitmapIndex.parse(data, kind, path="a", row_count=4)
            if index_type == "bitmap"
            else RangeBitmap.parse(data, kind, path="a", row_count=4)
        )
        assert len(parsed_index.values(None)) == 2


def test_a_bit_sliced_index_is_left_out_of_a_file_with_the_least_number() -> None:
    column: ArrowArray = pa.array([-(2**63), 1])
    container = index_of(column, indexes_of("BIGINT", "bsi")).container
    assert container.places == {}


def test_several_indexes_of_a_column_are_side_by_side() -> None:
    options = {
        "file-index.bitmap.columns": "a, b",
        "file-index.bsi.columns": "b",
        "file-index.in-manifest-threshold": "1 kb",
    }
    indexes = FileIndexes.of(table_of({"a": "STRING", "b": "INT", "c": "INT"}), options)
    assert indexes is not None
    assert indexes.in_manifest_bytes_max == 1024
    builder = indexes.builder()
    builder.add(pa.table({"b": pa.array([1], pa.int32()), "a": ["x"], "c": [None]}))
    places = embedded_container(builder.finish(), "a").places
    assert {name: list(kinds) for name, kinds in places.items()} == {
        "a": ["bitmap"],
        "b": ["bitmap", "bsi"],
    }


def test_no_option_is_no_index() -> None:
    assert FileIndexes.of(table_of({"a": "INT"}), {"file-index.read.enabled": "false"}) is None


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"bitmap.columns": "a,zz"}, InvalidTableError, "'zz', which is no column. Columns: a, "),
        ({"bitmap.columns": "d"}, InvalidTableError, "bitmap cannot hold a DECIMAL"),
        ({"bitmap.columns": "n"}, InvalidTableError, r"bitmap cannot hold a TIMESTAMP\(9\)"),
        ({"bitmap.columns": "x"}, InvalidTableError, "bitmap cannot hold a BYTES"),
        ({"bloom-filter.columns": "o"}, InvalidTableError, "bloom-filter cannot hold a BOOLEAN"),
        ({"bsi.columns": "s"}, InvalidTableError, "bsi cannot hold a STRING"),
        ({"range-bitmap.columns": "l"}, InvalidTableError, "cannot hold a ARRAY<INT>"),
        ({"bitmap.columns": "m[k]"}, UnsupportedError, "one key of a map is not supported"),
        ({"token.columns": "a"}, UnsupportedError, "no index of type 'token'"),
        ({"bitmap.columns": "a,,s"}, InvalidArgumentError, "names separated by commas"),
        ({"bitmap.a.version": "1"}, InvalidTableError, "'a' is not among 'file-index.bitmap.col"),
        (
            {"bitmap.columns": "a", "bitmap.a.fpp": "0.1"},
            InvalidTableError,
            "no setting 'fpp'. Its settings: version, index-block-size",
        ),
        ({"bitmap.columns": "a", "bitmap.a.version": "3"}, InvalidArgumentError, "one of 1, 2"),
        (
            {"bloom-filter.columns": "a", "bloom-filter.a.fpp": "1.5"},
            InvalidArgumentError,
            "a share such as 0.1",
        ),
        (
            {"bloom-filter.columns": "a", "bloom-filter.a.items": "0"},
            InvalidArgumentError,
            "from 1 to",
        ),
    ],
)
def test_an_index_that_cannot_be_is_refused_with_its_option(
    options: dict[str, str], error: type[Exception], message: str
) -> None:
    columns = {"a": "INT", "d": "DECIMAL(10, 2)", "n": "TIMESTAMP(9)", "x": "BYTES"}
    columns |= {"o": "BOOLEAN", "s": "STRING", "l": "ARRAY<INT>", "m": "MAP<STRING, INT>"}
    given = {f"file-index.{key}": text for key, text in options.items()}
    with pytest.raises(error, match=message) as caught:
        FileIndexes.of(table_of(columns), given)
    assert "file-index." in str(caught.value)
