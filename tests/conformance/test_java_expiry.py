"""Snapshots expire in copies of one table, by Lakebed and by the real Paimon 1.4.2.

The same files must be left, each must read what the other left, and the real engine must go on
where Lakebed ended.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import lakebed
from conformance.encoding import count_arrow, count_java, spark_type
from lakebed.storage.local import LocalFileIO
from support.expiring_tables import NOTHING, STEPS
from support.needed_files import lacking_and_unneeded, put_tag
from support.table_builder import Shape, build_table
from tools.peers.referee import Referee

pytestmark = pytest.mark.peers

SHAPES = {
    "keyed": Shape(buckets=2, is_partitioned=True),
    "changelogs": Shape(buckets=1).with_options(
        {"changelog-producer": "lookup", "num-sorted-run.compaction-trigger": "2"}
    ),
    "hash index": Shape(buckets=-1),
    "append": Shape(has_primary_key=False, buckets=-1, is_partitioned=True).with_options(
        {"manifest.merge-min-count": "2"}
    ),
    "file indexes": Shape(has_primary_key=False, buckets=1).with_options(
        {"file-index.bloom-filter.columns": "note", "file-index.in-manifest-threshold": "1 b"}
    ),
    "marked": Shape(has_primary_key=False, buckets=-1).with_options(
        {"deletion-vectors.enabled": "true"}
    ),
}
TAG = {"scan.tag-name": "held"}


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    referee = Referee()
    yield referee
    referee.close()


def expire_by_java(referee: Referee, path: Path, kept: int) -> None:
    """Has a commit of nothing expire all but the newest snapshots."""
    names = ("snapshot.num-retained.min", "snapshot.num-retained.max")
    options = {**dict.fromkeys(names, str(kept)), "snapshot.expire.limit": "100"}
    changes = [{"action": "setOption", "key": key, "value": text} for key, text in options.items()]
    referee.alter(path, changes)
    referee.write(path, [])


def expire_by_lakebed(path: Path, kept: int) -> None:
    lakebed.load_table(str(path)).expire_snapshots(
        retain_max=kept, retain_min=kept, max_deletes=100
    )


def files(path: Path) -> set[str]:
    """The files of a table, apart from its schemas."""
    found = (each.relative_to(path) for each in path.rglob("*") if each.is_file())
    return {str(each) for each in found if each.parts[0] != "schema" and each.suffix != ".crc"}


def check_reads(referee: Referee, path: Path) -> None:
    """Both read every snapshot and the tag alike."""
    table = lakebed.load_table(str(path))
    points = [{"scan.snapshot-id": str(each.id)} for each in table.snapshots()]
    for options in (*points, TAG):
        answer = referee.read(path, options=options)
        types = {name: spark_type(kind) for name, kind in answer.columns}
        ours = table.scan(options=options).to_arrow()
        assert count_java(answer.rows, types) == count_arrow(ours, types), options
    assert lacking_and_unneeded(table) == NOTHING


@pytest.mark.parametrize("name", SHAPES)
def test_lakebed_and_the_real_paimon_leave_the_same_files(
    name: str, referee: Referee, tmp_path: Path
) -> None:
    built = build_table(
        SHAPES[name], STEPS[:2], file_io=LocalFileIO(), warehouse=str(tmp_path / "ours")
    )
    put_tag(built.table, "held", 2)
    for step in STEPS[2:]:
        built.take(step)
    built.table.compact()
    ours, theirs = (tmp_path / each / "db.db" / "t" for each in ("ours", "theirs"))
    shutil.copytree(ours, theirs)
    count = len(built.table.snapshots())
    for kept in (count - 1, 4, 2, 1):
        expire_by_lakebed(ours, kept)
        expire_by_java(referee, theirs, kept)
        assert files(ours) == files(theirs), kept
        check_reads(referee, ours)


@pytest.mark.parametrize("name", ["keyed", "marked"])
def test_the_real_paimon_goes_on_where_lakebed_ended(
    name: str, referee: Referee, tmp_path: Path
) -> None:
    built = build_table(SHAPES[name], STEPS[:2], file_io=LocalFileIO(), warehouse=str(tmp_path))
    put_tag(built.table, "held", 2)
    for step in STEPS[2:]:
        built.take(step)
    path = tmp_path / "db.db" / "t"
    count = len(built.table.snapshots())
    expire_by_lakebed(path, count - 2)
    expire_by_java(referee, path, 3)
    check_reads(referee, path)
    expire_by_lakebed(path, 1)
    check_reads(referee, path)
    lakebed.load_table(str(path)).append(built.arrow([built.shape.row(50, 0)]))
    expire_by_java(referee, path, 1)
    check_reads(referee, path)
