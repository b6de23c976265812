"""Deletion vectors and the real Paimon 1.4.2: each reads, continues and takes out the other's."""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pytest

import lakebed
from support.golden_manifests import DATABASE
from tools.peers.referee import Referee

pytestmark = pytest.mark.peers

VECTORS = {"deletion-vectors.enabled": "true"}
FORMS = {
    "32-bit": VECTORS,
    "64-bit": VECTORS | {"deletion-vectors.bitmap64": "true"},
}
COLUMNS = [("id", "BIGINT NOT NULL"), ("p", "STRING NOT NULL"), ("v", "INT")]
PARTITIONS = ["x", "y"]
Model = dict[tuple[int, str], int]


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    referee = Referee()
    yield referee
    referee.close()


def create(location: Path, *, key: list[str], options: Mapping[str, str]) -> lakebed.Table:
    catalog = lakebed.load_catalog(warehouse=str(location))
    catalog.create_database("db")
    return catalog.create_table(
        "db.t",
        schema=lakebed.schema(COLUMNS),
        primary_key=key,
        partition_by=["p"],
        options=dict(options),
    )


def path_of(location: Path) -> Path:
    return location / "db.db" / "t"


def rows_of(ids: range, version: int) -> pa.Table:
    """A row of each id in each partition."""
    numbers = [*ids] * len(PARTITIONS)
    return pa.table(
        {
            "id": pa.array(numbers, pa.int64()),
            "p": [each for each in PARTITIONS for _ in ids],
            "v": pa.array([version] * len(numbers), pa.int32()),
        }
    )


def told(ids: range, version: int, kind: str = "+I") -> list[list[object]]:
    return [[kind, str(number), p, version] for p in PARTITIONS for number in ids]


def check_rows(referee: Referee, path: Path, model: Model) -> None:
    expected = sorted((*key, version) for key, version in model.items())
    rows = referee.read(path).rows
    assert sorted((int(row[0]), str(row[1]), int(row[2])) for row in rows) == expected
    table = lakebed.load_table(str(path))
    ours = table.scan().to_arrow().to_pylist()
    assert sorted((row["id"], row["p"], row["v"]) for row in ours) == expected
    assert table.scan().count() == len(expected)


def vector_count(path: Path) -> int:
    """How many data files of the newest snapshot have a vector."""
    table = lakebed.load_table(f"{path}$table_indexes")
    rows = table.scan().to_arrow().to_pylist()
    return sum(row["row_count"] for row in rows if row["index_type"] == "DELETION_VECTORS")


def upserted(model: Model, ids: range, version: int) -> None:
    model.update({(number, p): version for number in ids for p in PARTITIONS})


def delete(path: Path, model: Model, condition: str) -> None:
    """Deletes what a condition in the words of Spark and of Python says."""
    gone = [key for key in model if eval(condition, {"id": key[0], "p": key[1]})]
    assert gone
    assert lakebed.load_table(str(path)).delete(condition.replace("==", "=")) is not None
    for key in gone:
        del model[key]


@pytest.mark.parametrize("buckets", ["-1", "2"])
@pytest.mark.parametrize("form", FORMS)
def test_java_reads_and_compacts_an_append_table_whose_rows_lakebed_deleted(
    referee: Referee, tmp_path: Path, *, form: str, buckets: str
) -> None:
    options = {"bucket": buckets, "write-only": "true", "compaction.min.file-num": "2"}
    options |= {} if buckets == "-1" else {"bucket-key": "id"}
    create(tmp_path, key=[], options=FORMS[form] | options)
    path, model = path_of(tmp_path), Model()
    conditions = [
        "id == 3 or id >= 13 and id < 20",
        "id >= 900 and id < 1100",
        "id == 5 or id == 6 or id == 2999",
        "p == 'x' and id < 50 and id >= 40",
    ]
    for step, condition in enumerate(conditions):
        ids = range(1000 * step, 1000 * step + 1000)
        if step % 2:
            referee.write(path, told(ids, step))
        else:
            lakebed.load_table(str(path)).append(rows_of(ids, step))
        upserted(model, ids, step)
        delete(path, model, condition)
        check_rows(referee, path, model)
    assert vector_count(path) > 2
    referee.compact(path, full=True)
    check_rows(referee, path, model)
    delete(path, model, "id > 10 and id <= 1500 and p == 'y'")
    check_rows(referee, path, model)
    assert lakebed.load_table(str(path)).compact() is not None
    assert vector_count(path) == 0
    check_rows(referee, path, model)


@pytest.mark.parametrize("engine", ["deduplicate", "partial-update", "aggregation"])
@pytest.mark.parametrize("form", FORMS)
def test_java_and_lakebed_mark_rows_of_keys_that_either_wrote(
    referee: Referee, tmp_path: Path, *, form: str, engine: str
) -> None:
    options = {
        "bucket": "2",
        "merge-engine": engine,
        "num-levels": "4",
        "num-sorted-run.compaction-trigger": "3",
    }
    create(tmp_path, key=["id", "p"], options=FORMS[form] | options)
    path, model = path_of(tmp_path), Model()
    most = 0
    for step, (ids, writer) in enumerate(
        [
            (range(3000), "lakebed"),
            (range(100, 130), "lakebed"),
            (range(120, 180), "java"),
            (range(110, 125), "lakebed"),
            (range(2990, 3010), "java"),
            (range(0, 3000, 100), "lakebed"),
            (range(0, 3000, 50), "java"),
            (range(115, 135), "lakebed"),
        ]
    ):
        if writer == "java":
            referee.write(path, told(ids, step))
            referee.compact(path, full=False)
        else:
            lakebed.load_table(str(path)).upsert(rows_of(ids, step))
        upserted(model, ids, step)
        most = max(most, vector_count(path))
        check_rows(referee, path, model)
    assert most > 4
    if engine == "deduplicate":
        delete(path, model, "id < 40 or id > 2000 and p == 'x'")
        check_rows(referee, path, model)
        referee.write(path, told(range(50, 60), 0, "-D"))
        for number in range(50, 60):
            for p in PARTITIONS:
                del model[number, p]
        referee.compact(path, full=False)
        check_rows(referee, path, model)
    table = lakebed.load_table(str(path))
    table.upsert(rows_of(range(70, 75), 9))
    upserted(model, range(70, 75), 9)
    assert table.compact() is not None
    assert vector_count(path) == 0
    check_rows(referee, path, model)


@pytest.mark.parametrize("form", FORMS)
def test_java_reads_the_changelog_of_keys_whose_older_rows_lakebed_marked(
    referee: Referee, tmp_path: Path, form: str
) -> None:
    options = {"bucket": "1", "changelog-producer": "lookup", "num-levels": "4"}
    table = create(tmp_path, key=["id", "p"], options=FORMS[form] | options)
    path = path_of(tmp_path)
    table.upsert(rows_of(range(2000), 0))
    table.upsert(rows_of(range(5, 8), 1))
    start = table.latest_snapshot()
    table.upsert(rows_of(range(7, 9), 2))
    table.delete("id = 8 OR id = 1999")
    end = table.latest_snapshot()
    assert start is not None
    assert end is not None
    between = {"incremental-between": f"{start.id},{end.id}"}
    answer = referee.read(Path(f"{path}$audit_log"), options=between)
    found = sorted((str(row[0]), int(row[-3]), str(row[-2]), int(row[-1])) for row in answer.rows)
    expected = [
        change
        for p in PARTITIONS
        for change in [
            ("-U", 7, p, 1),
            ("+U", 7, p, 2),
            ("-U", 8, p, 0),
            ("+U", 8, p, 2),
            ("-D", 8, p, 2),
            ("-D", 1999, p, 0),
        ]
    ]
    assert found == sorted(expected)


@pytest.mark.parametrize("name", ["append_dv", "pk_dv"])
def test_java_reads_a_table_of_its_own_whose_rows_lakebed_marked_further(
    referee: Referee, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "db.db" / name
    shutil.copytree(DATABASE / name, path)
    kept = [row for row in referee.read(path).rows if not 12 <= int(row[0]) < 40]
    lakebed.load_table(str(path)).delete("id >= 12 AND id < 40")
    assert sorted(map(str, referee.read(path).rows)) == sorted(map(str, kept))
    referee.compact(path, full=True)
    assert sorted(map(str, referee.read(path).rows)) == sorted(map(str, kept))
