"""Updated tables and the real Paimon 1.4.2: it reads, goes on with and compacts them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

import lakebed
from tools.peers.referee import Referee

pytestmark = pytest.mark.peers

Row = tuple[int, str, int | None]
Change = Callable[[Row], Row]

VECTORS = {"deletion-vectors.enabled": "true"}
APPEND = {
    "files": {"bucket": "-1"},
    "files of buckets": {"bucket": "2", "bucket-key": "id"},
    "32-bit marks": VECTORS | {"bucket": "-1"},
    "64-bit marks": VECTORS | {"bucket": "-1", "deletion-vectors.bitmap64": "true"},
    "marks in buckets": VECTORS | {"bucket": "2", "bucket-key": "id"},
}
KEYED = {
    "deduplicate": {},
    "sequence field": {"sequence.field": "v"},
    "partial-update": {"merge-engine": "partial-update"},
    "deletion vectors": VECTORS,
    "lookup": {"changelog-producer": "lookup"},
}


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    referee = Referee()
    yield referee
    referee.close()


def create(location: Path, *, key: list[str], options: Mapping[str, str]) -> Path:
    catalog = lakebed.load_catalog(warehouse=str(location))
    catalog.create_database("db")
    catalog.create_table(
        "db.t",
        schema=lakebed.schema([("id", "BIGINT NOT NULL"), ("p", "STRING NOT NULL"), ("v", "INT")]),
        primary_key=key,
        partition_by=["p"],
        options=dict(options),
    )
    return location / "db.db" / "t"


def write(path: Path, rows: Sequence[Row]) -> None:
    ids, places, numbers = zip(*rows, strict=True)
    lakebed.load_table(str(path)).append(
        pa.table({"id": list(ids), "p": list(places), "v": pa.array(numbers, pa.int32())})
    )


def told(rows: Sequence[Row], kind: str = "+I") -> list[list[object]]:
    return [[kind, str(number), p, v] for number, p, v in rows]


def check(referee: Referee, path: Path, rows: Sequence[Row]) -> None:
    found = [(int(row[0]), str(row[1]), row[2]) for row in referee.read(path).rows]
    assert sorted(found) == sorted(rows)
    assert rows_in(path) == sorted(rows)


def rows_in(path: Path) -> list[Row]:
    found = lakebed.load_table(str(path)).scan().to_arrow().to_pylist()
    return sorted((row["id"], row["p"], row["v"]) for row in found)


def update(path: Path, assigned: Mapping[str, object], where: str) -> None:
    snapshot = lakebed.load_table(str(path)).update(assigned, where)
    assert snapshot is not None


def changed(rows: list[Row], matches: Callable[[Row], bool], change: Change) -> list[Row]:
    assert any(matches(row) for row in rows)
    return [change(row) if matches(row) else row for row in rows]


@pytest.mark.parametrize("name", APPEND)
def test_java_reads_and_compacts_an_append_table_that_lakebed_updated(
    referee: Referee, tmp_path: Path, name: str
) -> None:
    path = create(tmp_path, key=[], options=APPEND[name] | {"compaction.min.file-num": "2"})
    first: list[Row] = [(number, f"p{number % 2}", number) for number in range(500)]
    second: list[Row] = [(number, f"p{number % 2}", None) for number in range(500, 1000)]
    write(path, first)
    referee.write(path, told(second))
    rows = [*first, *second]
    update(path, {"v": "CAST(id AS INT) + 1"}, "id >= 490 AND id < 520")
    rows = changed(rows, lambda row: 490 <= row[0] < 520, lambda row: (*row[:2], row[0] + 1))
    check(referee, path, rows)
    update(path, {"p": "'new'", "id": "id + 5000"}, "id < 30 AND p = 'p1'")
    rows = changed(
        rows,
        lambda row: row[0] < 30 and row[1] == "p1",
        lambda row: (row[0] + 5000, "new", row[2]),
    )
    check(referee, path, rows)
    more: list[Row] = [(number, "new", 7) for number in range(2000, 2010)]
    referee.write(path, told(more))
    rows += more
    referee.compact(path, full=True)
    update(path, {"v": None}, "id >= 2005 OR v IS NOT NULL AND v < 100")
    rows = changed(
        rows,
        lambda row: row[0] >= 2005 or (row[2] is not None and row[2] < 100),
        lambda row: (*row[:2], None),
    )
    check(referee, path, rows)
    referee.compact(path, full=True)
    check(referee, path, rows)


@pytest.mark.parametrize("name", KEYED)
def test_java_reads_and_compacts_a_table_with_a_key_that_lakebed_updated(
    referee: Referee, tmp_path: Path, name: str
) -> None:
    path = create(tmp_path, key=["id", "p"], options=KEYED[name] | {"bucket": "2"})
    rows = [(number, f"p{number % 2}", number) for number in range(500)]
    write(path, rows)
    replaced = [(number, f"p{number % 2}", 1000) for number in range(100, 200)]
    referee.write(path, told(replaced))
    referee.compact(path, full=False)
    rows = [*rows[:100], *replaced, *rows[200:]]
    for start in (90, 195):
        update(path, {"v": "v + 1"}, f"id >= {start} AND id < {start} + 20")
        ids = range(start, start + 20)
        rows = [(*row[:2], row[2] + 1) if row[0] in ids else row for row in rows]
        check(referee, path, rows)
    referee.write(path, told([(90, "p0", 3000)]))
    referee.compact(path, full=True)
    check(referee, path, [(90, "p0", 3000) if row[0] == 90 else row for row in rows])


def test_java_reads_an_update_as_a_change(referee: Referee, tmp_path: Path) -> None:
    path = create(
        tmp_path, key=["id", "p"], options=KEYED["lookup"] | {"bucket": "1", "num-levels": "3"}
    )
    write(path, [(number, "p0", number) for number in range(10)])
    start = lakebed.load_table(str(path)).latest_snapshot()
    update(path, {"v": "v + 100"}, "id > 8")
    end = lakebed.load_table(str(path)).latest_snapshot()
    assert start is not None
    assert end is not None
    between = {"incremental-between": f"{start.id},{end.id}"}
    answer = referee.read(Path(f"{path}$audit_log"), options=between)
    found = sorted((str(row[0]), int(row[-1])) for row in answer.rows)
    assert found == [("+U", 109), ("-U", 9)]


def test_java_compacts_what_lakebed_merges_on_read(referee: Referee, tmp_path: Path) -> None:
    options = VECTORS | {"bucket": "1", "write-only": "true"}
    merge_on_read = {"deletion-vectors.merge-on-read": "true"}
    path = create(tmp_path, key=["id", "p"], options=options | merge_on_read)
    rows: list[Row] = [(number, "p0", number) for number in range(10)]
    write(path, rows)
    referee.compact(path, full=True)
    write(path, [(number, "p0", 7) for number in range(5)])
    update(path, {"v": "v + 1"}, "id < 2")
    lakebed.load_table(str(path)).delete("id = 9")
    rows = [(n, "p0", 8 if n < 2 else 7 if n < 5 else n) for n in range(9)]
    assert rows_in(path) == rows
    referee.compact(path, full=True)
    check(referee, path, rows)


def test_row_ids_go_on_between_lakebed_and_java(referee: Referee, tmp_path: Path) -> None:
    options = {"row-tracking.enabled": "true", "compaction.min.file-num": "2"}
    path = create(tmp_path, key=[], options=options)
    write(path, [(1, "x", 1), (2, "x", 2)])
    update(path, {"v": 7}, "id = 2")
    referee.write(path, told([(3, "x", 3)]))
    write(path, [(4, "x", 4)])
    expected = [(1, 1, 0, 1), (2, 7, 1, 2), (3, 3, 2, 3), (4, 4, 3, 4)]
    assert tracked(path) == expected
    check(referee, path, [(1, "x", 1), (2, "x", 7), (3, "x", 3), (4, "x", 4)])
    assert lakebed.load_table(str(path)).compact("full") is not None
    referee.write(path, told([(5, "x", 5)]))
    assert tracked(path) == [*expected, (5, 5, 4, 6)]
    check(referee, path, [(number, "x", 7 if number == 2 else number) for number in range(1, 6)])


def tracked(path: Path) -> list[tuple[int, ...]]:
    view = lakebed.load_table(f"{path}$row_tracking")
    rows = view.scan(["id", "v", "_ROW_ID", "_SEQUENCE_NUMBER"]).to_arrow().to_pylist()
    return sorted(tuple(row.values()) for row in rows)
