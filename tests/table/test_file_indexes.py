"""File indexes of a golden table: one file has them in the manifest, the other beside itself."""

from dataclasses import replace
from datetime import UTC
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from lakebed.catalog.loading import load_table
from lakebed.errors import CorruptTableError, NotFoundError
from lakebed.format.arrow.typing import python_values
from lakebed.format.manifest import ENTRY_COLUMNS
from lakebed.format.predicate.evaluation import evaluate
from lakebed.format.predicate.expressions import Expression
from lakebed.format.predicate.parser import parse_predicate
from lakebed.format.schema import TableSchema
from lakebed.format.types import AtomicType, DataField, TypeRoot
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.planning.file_indexes import FileIndexes
from support.golden_files import FILE_IO, GoldenFiles
from support.golden_manifests import DATABASE

GOLDEN = GoldenFiles("append_index")
ENTRIES = GOLDEN.entries
ROWS = [GOLDEN.rows_of(name) for name in GOLDEN.file_names]
# id and k have bloom filters, color a bitmap, n a bsi, r a range bitmap, d nothing. The first file
# has ids 0-199, the second 1000-1099.
FIRST, SECOND = [True, False], [False, True]
if ROWS[0]["id"][0].as_py() != 0:
    FIRST, SECOND = SECOND, FIRST


def indexes(schema: TableSchema = GOLDEN.schema) -> FileIndexes:
    return FileIndexes(
        file_io=FILE_IO,
        table_schema=schema,
        file_schemas=GOLDEN.file_schemas,
        bucket_directory=GOLDEN.bucket_directory,
        threads=2,
    )


def parsed(text: str, schema: TableSchema = GOLDEN.schema) -> Expression:
    return parse_predicate(text, schema.row_type, time_zone=UTC)


def kept(text: str) -> list[bool]:
    flags: list[bool] = indexes().matches(ENTRIES, parsed(text)).tolist()
    return flags


def test_the_golden_files_have_an_index_in_the_manifest_and_one_beside_the_file() -> None:
    assert ENTRIES["embedded_file_index"].null_count == 1
    extra = [len(names) for names in python_values(ENTRIES["extra_files"])]
    assert sorted(extra) == [0, 1]


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("id = 7", FIRST),
        ("id = 1007", SECOND),
        ("id IN (7, 1007)", [True, True]),
        ("id = 501", [False, False]),
        ("k = 'key7'", FIRST),
        ("k = 'key1007' OR k = 'key1008'", SECOND),
        ("k = 'nothing of the kind'", [False, False]),
        ("k = 'key7' AND id = 1007", [False, False]),
        ("color = 'red'", FIRST),
        ("color = 'black'", SECOND),
        ("color <> 'black'", FIRST),
        ("color LIKE 'b%'", [True, True]),
        ("color LIKE 'bla%'", SECOND),
        ("color IS NULL", SECOND),
        ("color IS NULL AND n IS NOT NULL", [False, False]),
        ("n > 0", FIRST),
        ("n < -500", [False, False]),
        ("n = 50", [False, False]),
        ("n IS NULL", SECOND),
        ("r = 50", [False, False]),
        ("r >= 49", [True, True]),
        ("r = 3 AND color = 'red'", FIRST),
        ("r = 1 AND color = 'red' AND n = -500", [False, False]),
        ("d = DATE '2020-01-01'", [True, True]),
        ("NOT (n > 0 OR n IS NULL)", FIRST),
    ],
)
def test_files_are_left_out_that_cannot_match(text: str, files: list[bool]) -> None:
    assert kept(text) == files


def test_no_file_that_matches_is_left_out() -> None:
    colors = ["color = 'red'", "color IN ('green', 'black')", "NOT color = 'blue'", "color IS NULL"]
    numbers = [
        f"{column} {sign} {value}"
        for column in ("n", "r", "id")
        for sign in ("=", "<", ">=")
        for value in (-500, 49, 1000)
    ]
    for left in colors:
        for right in numbers:
            for text in (right, f"{left} AND {right}", f"{left} OR NOT ({right})"):
                predicate = parsed(text)
                matching = [evaluate(predicate, rows).to_pylist().count(True) > 0 for rows in ROWS]
                flags = indexes().matches(ENTRIES, predicate)
                assert (flags | ~np.array(matching)).all(), text


def test_no_condition_opens_nothing() -> None:
    nowhere = replace(indexes(), file_io=MemoryFileIO())
    assert nowhere.matches(ENTRIES, None).tolist() == [True, True]
    assert nowhere.matches(ENTRIES.slice(0, 0), parsed("id = 1")).tolist() == []
    without = ENTRIES.drop_columns(["embedded_file_index", "extra_files"])
    without = without.append_column("embedded_file_index", pa.nulls(2, pa.binary()))
    without = without.append_column(
        "extra_files", pa.array([[], ["a.blobref"]], ENTRY_COLUMNS.field("extra_files").type)
    )
    assert nowhere.matches(without, parsed("id = 1")).tolist() == [True, True]


def test_a_renamed_column_is_found_by_its_id() -> None:
    fields = tuple(
        replace(field, name={"color": "n", "n": "color"}.get(field.name, field.name))
        for field in GOLDEN.schema.fields
    )
    schema = replace(GOLDEN.schema, fields=fields)
    flags = indexes(schema).matches(ENTRIES, parsed("n = 'red'", schema))
    assert flags.tolist() == FIRST


def test_a_column_of_another_type_or_age_has_no_index() -> None:
    text = AtomicType(root=TypeRoot.VARCHAR, length=100)
    changed = tuple(
        replace(field, type=text) if field.name == "id" else field for field in GOLDEN.schema.fields
    )
    newer = DataField(id=99, name="color2", type=text)
    schema = replace(GOLDEN.schema, fields=(*changed, newer))
    for condition in ("id = '500'", "color2 = 'no such'"):
        flags = indexes(schema).matches(ENTRIES, parsed(condition, schema))
        assert flags.tolist() == [True, True]


def with_external_path(path: str) -> pa.Table:
    index = ENTRIES.schema.get_field_index("external_path")
    return ENTRIES.set_column(index, "external_path", pa.array([path] * 2, pa.string()))


def test_an_index_lies_beside_its_data_file() -> None:
    file_io = MemoryFileIO()
    bucket = Path(GOLDEN.paths.location) / "bucket-0"
    index = next(bucket.glob("*.index"))
    file_io.put_if_absent(f"/elsewhere/{index.name}", index.read_bytes())
    entries = with_external_path("/elsewhere/data")
    there = replace(indexes(), file_io=file_io)
    assert there.matches(entries, parsed("id = 7")).tolist() == FIRST
    with pytest.raises(NotFoundError, match=r"\.index"):
        there.matches(ENTRIES, parsed("id = 7"))


def test_two_indexes_of_one_file_are_corrupt() -> None:
    names = pa.array([["a.index", "b.index"]] * 2, ENTRY_COLUMNS.field("extra_files").type)
    entries = ENTRIES.set_column(
        ENTRIES.schema.get_field_index("extra_files"), "extra_files", names
    )
    with pytest.raises(CorruptTableError, match=r"several indexes: a\.index, b\.index"):
        indexes().matches(entries, parsed("id = 7"))


def test_a_scan_may_leave_the_indexes_out() -> None:
    table = load_table(str(DATABASE / "append_index"))
    where = "color = 'purple'"
    asked = table.scan(where=where)
    unasked = table.scan(where=where, options={"file-index.read.enabled": False})
    assert [step.kept for step in asked.plan().steps if step.name == "indexes"] == [0]
    assert "indexes" not in {step.name for step in unasked.plan().steps}
    assert len(unasked.plan().splits) == 1
    assert unasked.count() == asked.count() == 0
