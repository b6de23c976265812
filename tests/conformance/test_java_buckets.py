"""Tables whose buckets grow, and the real Paimon 1.4.2: each finds the other's keys."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import lakebed
from tools.peers.referee import Referee

pytestmark = pytest.mark.peers

DYNAMIC = {"bucket": "-1", "dynamic-bucket.target-row-num": "40"}
COLUMNS = [("id", "BIGINT NOT NULL"), ("p", "STRING NOT NULL"), ("v", "INT")]
PARTITIONS = ["x", "y"]


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    referee = Referee()
    yield referee
    referee.close()


def rows_of(ids: range, partition: str, version: int) -> pa.Table:
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "p": [partition] * len(ids),
            "v": pa.array([version] * len(ids), pa.int32()),
        }
    )


def create(location: Path, *, key: list[str], options: dict[str, str]) -> lakebed.Table:
    catalog = lakebed.load_catalog(warehouse=str(location))
    catalog.create_database("db")
    return catalog.create_table(
        "db.t",
        schema=lakebed.schema(COLUMNS),
        primary_key=key,
        partition_by=["p"],
        options=options,
    )


def path_of(location: Path) -> Path:
    return location / "db.db" / "t"


def read_by_java(referee: Referee, path: Path) -> list[tuple[int, str, int]]:
    return sorted((int(row[0]), str(row[1]), int(row[2])) for row in referee.read(path).rows)


def read_by_lakebed(path: Path) -> list[tuple[int, str, int]]:
    rows = lakebed.load_table(str(path)).scan().to_arrow().to_pylist()
    return sorted((row["id"], row["p"], row["v"]) for row in rows)


def buckets_of_keys(path: Path) -> dict[tuple[int, str], set[str]]:
    """The directories of every data file that holds a key, of an uncompacted table."""
    found = defaultdict(set)
    for file in path.rglob("data-*.parquet"):
        rows = pa.parquet.read_table(file, partitioning=None, columns=["id", "p"]).to_pylist()
        for row in rows:
            found[row["id"], row["p"]].add(file.parent.name)
    return found


def index_rows(path: Path) -> Counter[str]:
    """How many hashes the newest snapshot's indexes have, by partition."""
    table = lakebed.load_table(f"{path}$table_indexes")
    rows = table.scan().to_arrow().to_pylist()
    assert {row["index_type"] for row in rows} == {"HASH"}
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row["partition"]] += row["row_count"]
    return counts


def test_java_puts_keys_that_lakebed_wrote_into_their_buckets(
    referee: Referee, tmp_path: Path
) -> None:
    create(tmp_path, key=["id", "p"], options=DYNAMIC | {"write-only": "true"})
    path = path_of(tmp_path)
    model = {}
    for step, ids in enumerate((range(100), range(60, 170), range(150, 230), range(0, 260, 7))):
        for partition in PARTITIONS:
            for number in ids:
                model[number, partition] = step
        if step % 2 == 0:
            table = lakebed.load_table(str(path))
            table.append(pa.concat_tables([rows_of(ids, each, step) for each in PARTITIONS]))
        else:
            told = [["+I", str(n), p, step] for p in PARTITIONS for n in ids]
            referee.write(path, told, assign=True)
        expected = sorted((*key, version) for key, version in model.items())
        assert read_by_java(referee, path) == expected
        assert read_by_lakebed(path) == expected
    assert {len(places) for places in buckets_of_keys(path).values()} == {1}
    assert set(index_rows(path).values()) == {len(model) // len(PARTITIONS)}


def test_java_reads_overwrites_and_deletes_of_dynamic_buckets(
    referee: Referee, tmp_path: Path
) -> None:
    table = create(tmp_path, key=["id", "p"], options=DYNAMIC)
    path = path_of(tmp_path)
    table.append(pa.concat_tables([rows_of(range(90), each, 1) for each in PARTITIONS]))
    table.overwrite(rows_of(range(50, 70), "x", 2), partition={"p": "x"})
    table.delete("id >= 60")
    expected = sorted(
        [(n, "x", 2) for n in range(50, 60)] + [(n, "y", 1) for n in range(60)],
    )
    assert read_by_java(referee, path) == expected
    assert sorted(index_rows(path).values()) == [20, 90]
    referee.write(path, [["+I", str(n), "x", 3] for n in range(55, 80)], assign=True)
    expected = sorted(
        [(n, "x", 2) for n in range(50, 55)]
        + [(n, "x", 3) for n in range(55, 80)]
        + [(n, "y", 1) for n in range(60)],
    )
    assert read_by_java(referee, path) == expected
    referee.compact(path, full=True)
    assert read_by_lakebed(path) == expected
    lakebed.load_table(str(path)).append(rows_of(range(78, 82), "x", 4))
    kept = [row for row in expected if row[1] == "y" or row[0] < 78]
    expected = sorted(kept + [(n, "x", 4) for n in range(78, 82)])
    assert read_by_java(referee, path) == expected


@pytest.mark.parametrize("engine", ["deduplicate", "partial-update"])
def test_java_reads_keys_that_moved_between_partitions(
    referee: Referee, tmp_path: Path, engine: str
) -> None:
    table = create(tmp_path, key=["id"], options=DYNAMIC | {"merge-engine": engine})
    path = path_of(tmp_path)
    model: dict[int, tuple[str, int]] = {}
    expected: list[tuple[int, str, int]] = []
    for step, (ids, partition) in enumerate(
        [(range(100), "x"), (range(50, 150), "y"), (range(0, 150, 3), "z"), (range(40, 60), "x")]
    ):
        table.append(rows_of(ids, partition, step))
        for number in ids:
            is_kept = engine != "deduplicate" and number in model
            model[number] = (model[number][0] if is_kept else partition, step)
        expected = sorted((number, *place) for number, place in model.items())
        assert read_by_java(referee, path) == expected
    referee.compact(path, full=True)
    assert read_by_java(referee, path) == expected
    assert read_by_lakebed(path) == expected


def test_java_reads_real_buckets_of_a_table_that_decides_late_and_leaves_rows_for_later(
    referee: Referee, tmp_path: Path
) -> None:
    options = {"bucket": "-2", "postpone.target-row-num-per-bucket": "10"}
    table = create(tmp_path, key=["id", "p"], options=options)
    path = path_of(tmp_path)
    table.append(pa.concat_tables([rows_of(range(35), "x", 1), rows_of(range(5), "y", 1)]))
    expected = sorted([(n, "x", 1) for n in range(35)] + [(n, "y", 1) for n in range(5)])
    assert read_by_java(referee, path) == expected
    referee.write(path, [["+I", str(n), "x", 2] for n in range(50)])
    assert read_by_java(referee, path) == expected
    assert read_by_lakebed(path) == expected
    assert len(list(path.glob("p=x/bucket-postpone/data--u-*"))) == 1
    lakebed.load_table(str(path)).append(rows_of(range(30, 60), "x", 3))
    kept = [row for row in expected if row[1] == "y" or row[0] < 30]
    assert read_by_java(referee, path) == sorted(kept + [(n, "x", 3) for n in range(30, 60)])
    newest = max(referee.metadata(path).items(), key=lambda item: int(item[0]))[1]
    entries = [e for kind in ("base", "delta") for m in newest[kind] for e in m["entries"]]
    totals = {(e["decoded"]["partition"]["p"], e["_TOTAL_BUCKETS"]) for e in entries}
    assert totals == {("x", 4), ("y", 1), ("x", -2)}
