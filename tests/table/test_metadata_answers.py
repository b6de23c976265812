"""Counts, least and greatest values that manifests give, beside those of the rows."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.statistics.stored import ColumnBounds, StatsColumns, bounds_from_stats
from lakebed.format.type_text import parse_type
from lakebed.format.types import AtomicType
from lakebed.table.metadata.index_paths import IndexPaths
from lakebed.table.planning.deletion_vectors import attach_deletion_vectors, read_deletion_vectors
from lakebed.table.planning.metadata_answers import MetadataAnswers
from support.golden_files import FILE_IO, GoldenFiles

APPEND_TABLES = [
    "append_types_parquet",
    "append_types_orc",
    "append_java_types",
    "append_stats_modes",
    "append_index",
    "append_partitioned",
    "append_rolling",
]


def bounds_of(golden: GoldenFiles) -> dict[str, ColumnBounds]:
    entries = golden.entries
    stats = StatsColumns(
        entries["value_min"],
        entries["value_max"],
        entries["value_null_counts"],
        entries["value_stats_cols"],
    )
    return bounds_from_stats(stats, golden.schema.fields)


@pytest.mark.parametrize("name", APPEND_TABLES)
def test_answers_about_golden_tables_are_those_of_the_rows(name: str) -> None:
    golden = GoldenFiles(name)
    answers = MetadataAnswers(files=golden.entries, has_key=False)
    rows = [golden.rows_of(file) for file in golden.file_names]
    assert answers.count() == sum(part.num_rows for part in rows)
    known = 0
    for column, bounds in bounds_of(golden).items():
        kind = golden.schema.field(column).type
        if not isinstance(kind, AtomicType):
            continue
        for found, fold in (
            (answers.min(bounds, kind), pc.min),
            (answers.max(bounds, kind), pc.max),
        ):
            if found is None:
                continue
            ends = [
                fold(part[column].cast(found.type)) for part in rows if column in part.column_names
            ]
            assert found == fold(pa.array([end.as_py() for end in ends], found.type)), column
            known += 1
    assert known or name == "append_stats_modes"


def test_deletion_vectors_are_taken_off_the_count_and_hide_the_ends() -> None:
    golden = GoldenFiles("append_dv")
    assert golden.snapshot.index_manifest is not None
    vectors = read_deletion_vectors(
        FILE_IO, golden.snapshot.index_manifest, paths=IndexPaths(golden.paths)
    )
    entries = attach_deletion_vectors(golden.entries, vectors)
    answers = MetadataAnswers(files=entries, has_key=False)
    physical = pc.sum(entries["row_count"]).as_py()
    assert answers.count() == physical - pc.sum(vectors["cardinality"]).as_py()
    bounds = bounds_of(golden)["n"]
    assert answers.min(bounds, kind_of("BIGINT")) is None
    untold = vectors.set_column(
        vectors.schema.get_field_index("cardinality"),
        "cardinality",
        pa.nulls(vectors.num_rows, pa.int64()),
    )
    old = MetadataAnswers(files=attach_deletion_vectors(golden.entries, untold), has_key=False)
    assert old.count() is None


def files(**columns: list[Any]) -> pa.Table:
    count = max(map(len, columns.values()))
    defaults: dict[str, list[Any]] = {
        "row_count": [10] * count,
        "delete_row_count": [0] * count,
        "file_name": ["data-a.parquet"] * count,
    }
    table = pa.table({**defaults, **columns})
    index = table.schema.get_field_index("delete_row_count")
    return table.set_column(index, "delete_row_count", table["delete_row_count"].cast(pa.int64()))


def bounds(  # noqa: PLR0917 -- read as a table
    low: list[Any], high: list[Any], nulls: list[int | None], kind: str
) -> ColumnBounds:
    types = {"INT": pa.int32(), "DOUBLE": pa.float64(), "STRING": pa.string()}
    arrow = types.get(kind, pa.timestamp("us"))
    ends: list[ArrowArray] = [pa.array(low, arrow), pa.array(high, arrow)]
    known = np.array([a is not None and b is not None for a, b in zip(low, high, strict=True)])
    return ColumnBounds(ends[0], ends[1], pa.array(nulls, pa.int64()), known)


def kind_of(text: str) -> AtomicType:
    kind = parse_type(text)
    assert isinstance(kind, AtomicType)
    return kind


def ends(table: pa.Table, known: ColumnBounds, kind: str, *, has_key: bool = False) -> list[Any]:
    answers = MetadataAnswers(files=table, has_key=has_key)
    found = [answers.min(known, kind_of(kind)), answers.max(known, kind_of(kind))]
    return ["?" if end is None else end.as_py() for end in found]


def test_ends_of_several_files_are_joined() -> None:
    two = files(row_count=[10, 10])
    assert ends(two, bounds([3, 1], [5, 9], [0, 2], "INT"), "INT") == [1, 9]
    assert ends(two, bounds([3, None], [5, None], [0, 10], "INT"), "INT") == [3, 5]
    assert ends(two, bounds([None, None], [None, None], [10, 10], "INT"), "INT") == [None, None]
    assert ends(two.slice(0, 0), bounds([], [], [], "INT"), "INT") == [None, None]
    assert MetadataAnswers(files=two.slice(0, 0), has_key=True).count() == 0


def test_a_file_without_bounds_leaves_ends_unknown() -> None:
    two = files(row_count=[10, 10])
    assert ends(two, bounds([3, None], [5, None], [0, 9], "INT"), "INT") == ["?", "?"]
    assert ends(two, bounds([3, None], [5, None], [0, None], "INT"), "INT") == ["?", "?"]


def test_ends_that_writers_round_are_not_told() -> None:
    one = files(row_count=[10])
    assert ends(one, bounds(["a"], ["b"], [0], "STRING"), "STRING") == ["?", "?"]
    assert ends(one, bounds([1.5], [2.5], [0], "DOUBLE"), "DOUBLE") == [1.5, "?"]
    assert ends(one, bounds([0.0], [2.5], [0], "DOUBLE"), "DOUBLE") == ["?", "?"]
    assert ends(one, bounds([math.nan], [math.nan], [0], "DOUBLE"), "DOUBLE") == ["?", "?"]
    times = bounds([1], [2], [0], "TIMESTAMP(6)")
    assert "?" not in ends(one, times, "TIMESTAMP(6)")
    assert ends(files(file_name=["data-a.orc"]), times, "TIMESTAMP(6)") == ["?", "?"]
    assert ends(one, times, "TIMESTAMP(9)") == ["?", "?"]


def test_retractions_leave_everything_unknown() -> None:
    known = bounds([3], [5], [0], "INT")
    deletes, untold = files(delete_row_count=[1]), files(delete_row_count=[None])
    assert ends(deletes, known, "INT", has_key=True) == ["?", "?"]
    assert MetadataAnswers(files=deletes, has_key=True).count() is None
    assert MetadataAnswers(files=untold, has_key=True).count() is None
    assert MetadataAnswers(files=untold, has_key=False).count() == 10
