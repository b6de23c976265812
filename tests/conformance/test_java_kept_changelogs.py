"""Changelogs outlive their snapshots in copies of one table, by Lakebed and the real Paimon 1.4.2.

Both must leave the same files, a stream of the real one must read on from what Lakebed left, and
its own expiry must go on where Lakebed ended.
"""

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import lakebed
from lakebed.storage.local import LocalFileIO
from lakebed.table.metadata.changelogs import Changelogs
from support.expiring_tables import NOTHING, STEPS
from support.needed_files import lacking_and_unneeded, put_tag
from support.table_builder import Shape, build_table
from tools.peers.referee import Referee

pytestmark = pytest.mark.peers

SHAPES = {
    "no producer": Shape(buckets=1).with_options({"num-sorted-run.compaction-trigger": "2"}),
    "lookup": Shape(buckets=1).with_options(
        {"changelog-producer": "lookup", "num-sorted-run.compaction-trigger": "2"}
    ),
    "append": Shape(has_primary_key=False, buckets=-1, is_partitioned=True).with_options(
        {"manifest.merge-min-count": "2"}
    ),
}


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    referee = Referee()
    yield referee
    referee.close()


def options(snapshots: int, changelogs: int) -> dict[str, str]:
    """So many snapshots are kept, and so many changelogs with them."""
    kept = {"snapshot": snapshots, "changelog": changelogs}
    return {
        **{
            f"{kind}.num-retained.{end}": str(n)
            for kind, n in kept.items()
            for end in ("min", "max")
        },
        "snapshot.expire.limit": "100",
    }


def expire_by_java(referee: Referee, path: Path) -> None:
    """Has a commit of nothing expire what the options say."""
    referee.write(path, [])


def expire_by_lakebed(path: Path) -> None:
    table = lakebed.load_table(str(path))
    table.expire_snapshots()
    table.expire_changelogs()


def files(path: Path) -> set[str]:
    """The files of a table, apart from its schemas and from a hint that may be there early."""
    found = {each.relative_to(path) for each in path.rglob("*") if each.is_file()}
    found.discard(Path("changelog/EARLIEST"))
    return {str(each) for each in found if each.parts[0] != "schema" and each.suffix != ".crc"}


def set_options(referee: Referee, path: Path, texts: dict[str, str]) -> None:
    changes = [{"action": "setOption", "key": key, "value": text} for key, text in texts.items()]
    referee.alter(path, changes)


def streamed(referee: Referee, path: Path, start: int) -> Counter[str]:
    return Counter(map(str, referee.stream(path, start=start)))


@pytest.mark.parametrize("name", SHAPES)
def test_lakebed_and_the_real_paimon_keep_the_same_changelogs(
    name: str, referee: Referee, tmp_path: Path
) -> None:
    built = build_table(
        SHAPES[name], STEPS[:2], file_io=LocalFileIO(), warehouse=str(tmp_path / "ours")
    )
    put_tag(built.table, "held", 2)
    for step in STEPS[2:]:
        built.take(step)
    ours, theirs = (tmp_path / each / "db.db" / "t" for each in ("ours", "theirs"))
    count = len(built.table.snapshots())
    expected = {start: streamed(referee, ours, start) for start in range(1, count + 1)}
    assert expected[1] != expected[count]
    shutil.copytree(ours, theirs)
    for snapshots, changelogs in ((count - 1, count), (3, count), (1, count - 1), (1, 3)):
        for path in (ours, theirs):
            set_options(referee, path, options(snapshots, changelogs))
        expire_by_lakebed(ours)
        expire_by_java(referee, theirs)
        kept = (snapshots, changelogs)
        assert files(theirs) - files(ours) == set(), kept
        assert files(ours) - files(theirs) == set(), kept
        table = lakebed.load_table(str(ours))
        left = Changelogs(table.file_io, table.parts().paths).list_ids()
        start = min([*left, table.snapshots()[0].id])
        for each in range(start, count + 1):
            assert streamed(referee, ours, each) == expected[each], (kept, each)
        assert lacking_and_unneeded(table) == NOTHING, kept


@pytest.mark.parametrize("name", ["no producer", "lookup"])
def test_the_real_paimon_goes_on_where_lakebed_ended(
    name: str, referee: Referee, tmp_path: Path
) -> None:
    shape = SHAPES[name].with_options(options(100, 101))
    built = build_table(shape, STEPS, file_io=LocalFileIO(), warehouse=str(tmp_path))
    path = tmp_path / "db.db" / "t"
    count = len(built.table.snapshots())
    expected = {start: streamed(referee, path, start) for start in range(1, count + 1)}
    set_options(referee, path, options(count - 2, count))
    expire_by_lakebed(path)
    for snapshots, changelogs in ((count - 3, count), (2, count - 1), (1, 3)):
        set_options(referee, path, options(snapshots, changelogs))
        expire_by_java(referee, path)
        table = lakebed.load_table(str(path))
        first = Changelogs(table.file_io, table.parts().paths).list_ids()[0]
        assert streamed(referee, path, first) == expected[first]
        assert lacking_and_unneeded(table)[0] == set()
    set_options(referee, path, options(1, 2))
    expire_by_lakebed(path)
    assert lacking_and_unneeded(lakebed.load_table(str(path)))[0] == set()
