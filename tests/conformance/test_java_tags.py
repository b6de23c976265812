"""Tags of Lakebed for the real Paimon 1.4.2, and the reverse: made, read, changed, deleted.

Of copies of one table the same files must be left, whoever deletes a tag.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import lakebed
from conformance.encoding import count_arrow, count_java, spark_type
from lakebed.storage.local import LocalFileIO
from lakebed.table.table import Table
from lakebed.table.tags.making import all_tags
from support.needed_files import lacking_and_unneeded
from support.table_builder import BuiltTable, Shape, Step, build_table
from tools.peers.referee import Referee

pytestmark = pytest.mark.peers

STEPS = (
    Step("write", range(8)),
    Step("write", range(4, 10)),
    Step("delete", (1, 5)),
    Step("write", (2, 11)),
    Step("overwrite", range(3)),
    Step("write", range(2, 6)),
    Step("write", range(20, 24)),
)
SHAPES = {
    "keyed": Shape(buckets=2, is_partitioned=True),
    "changelogs": Shape(buckets=1).with_options(
        {"changelog-producer": "lookup", "num-sorted-run.compaction-trigger": "2"}
    ),
    "append": Shape(has_primary_key=False, buckets=-1, is_partitioned=True).with_options(
        {"manifest.merge-min-count": "2"}
    ),
    "marked": Shape(has_primary_key=False, buckets=-1).with_options(
        {"deletion-vectors.enabled": "true"}
    ),
}


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    referee = Referee()
    yield referee
    referee.close()


def build(name: str, directory: Path) -> BuiltTable:
    return build_table(SHAPES[name], STEPS, file_io=LocalFileIO(), warehouse=str(directory))


def path_of(directory: Path) -> Path:
    return directory / "db.db" / "t"


def load(path: Path) -> Table:
    return lakebed.load_table(str(path), options={"lakebed.time-zone": "UTC"})


def tags_of(table: Table) -> list[list[object]]:
    return [
        [
            tag.name,
            tag.snapshot.id,
            None if tag.create_time is None else tag.create_time,
            None if tag.time_retained is None else tag.time_retained.total_seconds(),
        ]
        for tag in all_tags(table.parts())
    ]


def files(path: Path) -> set[str]:
    """The files of a table, apart from its schemas."""
    found = (each.relative_to(path) for each in path.rglob("*") if each.is_file())
    return {str(each) for each in found if each.parts[0] != "schema" and each.suffix != ".crc"}


def check_reads(referee: Referee, path: Path) -> None:
    """Both see the same tags, and read each alike; nothing is lacking, nothing too much."""
    table = load(path)
    tags = tags_of(table)
    assert [tag[:2] for tag in referee.tags(path)] == [tag[:2] for tag in tags]
    for name, *_ in tags:
        options = {"scan.tag-name": str(name)}
        answer = referee.read(path, options=options)
        types = {column: spark_type(kind) for column, kind in answer.columns}
        ours = table.scan(options=options).to_arrow()
        assert count_java(answer.rows, types) == count_arrow(ours, types), name
    assert lacking_and_unneeded(table) == (set(), set())


@pytest.mark.parametrize("name", SHAPES)
def test_whoever_deletes_a_tag_leaves_the_same_files(
    name: str, referee: Referee, tmp_path: Path
) -> None:
    table = build(name, tmp_path / "ours").table
    for snapshot in table.snapshots():
        table.create_tag(f"t{snapshot.id}", snapshot.id)
    table.create_tag("twin", 2)
    table.expire_snapshots(retain_max=1, retain_min=1, max_deletes=100)
    ours, theirs = (path_of(tmp_path / each) for each in ("ours", "theirs"))
    shutil.copytree(ours, theirs)
    check_reads(referee, theirs)
    for names in ("t3", "t1,t2", "twin", "t5", "t4"):
        load(ours).delete_tag(names)
        referee.tags(theirs, "delete", tag=names)
        assert files(ours) == files(theirs), names
        check_reads(referee, ours)


@pytest.mark.parametrize("name", ["keyed", "marked"])
def test_either_changes_the_tags_of_the_other(name: str, referee: Referee, tmp_path: Path) -> None:
    path = path_of(tmp_path)
    table = build(name, tmp_path).table
    table.create_tag("a", 1, "1 d")
    referee.tags(path, "create", tag="b", snapshot=2, seconds=90)
    referee.tags(path, "rename", tag="a", target="c")
    table.rename_tag("b", "d")
    table.expire_snapshots(retain_max=1, retain_min=1, max_deletes=100)
    check_reads(referee, path)
    told = referee.tags(path)
    assert [(tag[0], tag[1], tag[3]) for tag in told] == [("c", 1, 86400), ("d", 2, 90)]
    referee.tags(path, "create", tag="e", snapshot=1)
    table.create_tag("f", 2)
    newest = table.snapshots()[-1].id
    referee.tags(path, "delete", tag="c")
    table.replace_tag("d", newest)
    table.delete_tag("f")
    check_reads(referee, path)
    referee.tags(path, "replace", tag="e", snapshot=newest)
    assert [tag[:2] for tag in tags_of(table)] == [["d", newest], ["e", newest]]


def test_a_retention_reads_the_same_for_both(referee: Referee, tmp_path: Path) -> None:
    path = path_of(tmp_path)
    table = build("keyed", tmp_path).table
    table.create_tag("ours", 1, "25 h")
    referee.tags(path, "create", tag="theirs", snapshot=1, seconds=90)
    for ours, theirs in zip(tags_of(table), referee.tags(path), strict=True):
        assert ours[:2] == theirs[:2]
        assert str(ours[2]).replace(" ", "T").rstrip("0") == theirs[2][:26].rstrip("0")
        assert ours[3] == theirs[3]


@pytest.mark.parametrize(
    "options",
    [
        {"tag.creation-period": "daily"},
        {"tag.creation-period": "hourly", "tag.period-formatter": "without_dashes_and_spaces"},
        {"tag.creation-period": "two-hours", "tag.creation-delay": "10 min"},
        {"tag.creation-period-duration": "45 min", "tag.num-retained-max": "2"},
        {"tag.creation-period": "hourly", "tag.automatic-completion": "true"},
        {"sink.process-time-zone": "Asia/Kathmandu", "tag.creation-period": "hourly"},
        {
            "tag.automatic-creation": "watermark",
            "sink.watermark-time-zone": "GMT-03:30",
            "tag.creation-period": "hourly",
        },
    ],
    ids=str,
)
def test_the_same_tags_are_made_by_themselves(
    options: dict[str, str], referee: Referee, tmp_path: Path
) -> None:
    ours, theirs = (path_of(tmp_path / each) for each in ("ours", "theirs"))
    build("append", tmp_path / "ours")
    minute = 60_000
    for place, minutes in enumerate((0, 50, 65, 190, 191, 1500, 1501)):
        path = ours / "snapshot" / f"snapshot-{place + 1}"
        snapshot = json.loads(path.read_bytes())
        snapshot["timeMillis"] = 1_767_225_600_000 + minutes * minute
        snapshot["watermark"] = snapshot["timeMillis"] - 7 * minute
        path.write_text(json.dumps(snapshot))
    everything = {
        "tag.automatic-creation": "process-time",
        "sink.process-time-zone": "UTC",
        **options,
    }
    changes = [
        {"action": "setOption", "key": key, "value": each} for key, each in everything.items()
    ]
    referee.alter(ours, changes)
    shutil.copytree(ours, theirs)

    load(ours).trigger_tag_automatic_creation()

    made = [tag[:2] for tag in tags_of(load(ours))]
    assert made == [tag[:2] for tag in referee.tags(theirs, "automatic")]
    assert len(made) > 1
    check_reads(referee, ours)
