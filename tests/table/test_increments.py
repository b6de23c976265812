"""What changed between two points: added files, changelog files, or a comparison."""

import pickle
import shutil
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

import golden_adapter
import lakebed
from golden_adapter import plain
from lakebed.errors import CorruptTableError, InvalidArgumentError, NotFoundError
from lakebed.format.manifest import entries_from_columns
from lakebed.format.manifest_file import write_manifest, write_manifest_list
from lakebed.format.predicate.evaluation import filter_table
from lakebed.format.predicate.parser import parse_predicate
from lakebed.format.snapshot import Snapshot
from lakebed.table.table import Table
from support.golden_answers import GoldenQuery, golden_queries
from support.table_builder import Shape, Step, build_table, sorted_rows

DATABASE = golden_adapter.__file__.removesuffix("golden_adapter.py") + "golden/warehouse/db.db"
TABLES = (
    *("agg_retract", "append_dv", "cl_full_compaction", "cl_input", "evolve_pk", "first_row"),
    *("pk_cross_partition", "pk_dv", "pk_rescale", "pk_rowkind_field", "pu_sequence_groups"),
)
QUERIES = [
    query
    for table in TABLES
    for query in golden_queries(table)
    if query.args.get("incremental") and not query.args.get("system_table")
]
KEYED = Shape(buckets=2)


def golden(name: str) -> Table:
    return lakebed.load_table(f"{DATABASE}/{name}", {"lakebed.time-zone": "UTC"})


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: f"{query.table}: {query.id}")
def test_changes_are_those_of_the_real_engine(query: GoldenQuery) -> None:
    wanted = query.args["incremental"]
    scan = golden(query.table).scan(
        incremental=(wanted["start"], wanted["end"]),
        incremental_mode=wanted.get("mode", "auto"),
    )
    assert query.difference(plain(scan.to_arrow()).to_pylist()) is None
    assert scan.count() == len(query.rows)
    plan = pickle.loads(pickle.dumps(scan.plan()))
    batches = [batch for split in plan.splits for batch in plan.reader.read(split)]
    assert query.difference(plain(pa.Table.from_batches(batches, scan.schema)).to_pylist()) is None


@pytest.mark.parametrize("mode", ["delta", "changelog", "diff"])
def test_options_say_the_same_as_arguments(mode: str) -> None:
    table = golden("cl_input")
    options = {"incremental-between": "1,5", "incremental-between-scan-mode": mode}
    found = table.scan(options=options).to_arrow()
    assert found == table.scan(incremental=(1, 5), incremental_mode=mode).to_arrow()
    assert found == table.scan(incremental=("1", "5"), incremental_mode=mode).to_arrow()


@pytest.mark.parametrize("mode", ["delta", "changelog", "diff"])
def test_times_stand_for_the_snapshots_until_then(mode: str) -> None:
    table = golden("cl_input")
    times = [snapshot.time_millis for snapshot in table.snapshots()]
    between = {"incremental-between-scan-mode": mode}
    by_time = table.scan(
        options={"incremental-between-timestamp": f"{times[1]},{times[3]}", **between}
    )
    assert by_time.to_arrow() == table.scan(incremental=(2, 4), incremental_mode=mode).to_arrow()
    for start, end in ((times[0] - 9, times[0] - 1), (times[4] + 1, times[4] + 9), (5, 5)):
        beside = {"incremental-between-timestamp": f"{start},{end}", **between}
        assert table.scan(options=beside).count() == 0


def test_a_time_before_all_starts_with_the_first_snapshot() -> None:
    table = golden("cl_input")
    last = table.snapshots()[-1].time_millis
    options = {"incremental-between-timestamp": f"0,{last}"}
    changes = table.scan(options=options).to_arrow()
    assert changes == table.scan(incremental=(0, 5)).to_arrow()
    compared = {**options, "incremental-between-scan-mode": "diff"}
    assert sorted_rows(table.scan(options=compared).to_arrow()) == sorted_rows(
        table.scan().to_arrow()
    )


@pytest.fixture
def tagged(tmp_path: Path) -> Table:
    """Tags `old` of snapshot 2 and `new` of 4, among snapshots 1 to 5."""
    copy = tmp_path / "t"
    shutil.copytree(f"{DATABASE}/cl_input", copy)
    (copy / "tag").mkdir()
    for name, number in (("old", 2), ("new", 4)):
        shutil.copy(copy / f"snapshot/snapshot-{number}", copy / f"tag/tag-{name}")
    return lakebed.load_table(str(copy))


def test_two_tags_are_compared(tagged: Table) -> None:
    by_tag = tagged.scan(incremental=("old", "new"))
    compared = tagged.scan(incremental=(2, 4), incremental_mode="diff")
    assert by_tag.to_arrow() == compared.to_arrow()
    assert by_tag.count() > 0
    as_snapshots = {
        "incremental-between": "old,new",
        "incremental-between-tag-to-snapshot": "true",
    }
    by_id = tagged.scan(incremental=(2, 4)).to_arrow()
    assert tagged.scan(options=as_snapshots).to_arrow() == by_id
    assert tagged.scan(incremental=("old", "old")).count() == 0


@pytest.mark.parametrize(
    ("incremental", "words"),
    [
        ((3, 1), "1, is before the start 3"),
        (("new", "old"), "is older than tag 'new'"),
        (("old", 3), "mixes a tag and a snapshot id"),
        (("old", "lost"), "tag 'lost' does not exist. There is new, old"),
        ((1, 99), "snapshot '6' does not exist. Snapshots 1 to 5"),
        ((-7, 2), "snapshot '-6' does not exist"),
    ],
)
def test_a_range_that_cannot_be_says_why(
    tagged: Table, incremental: tuple[int | str, int | str], words: str
) -> None:
    with pytest.raises((InvalidArgumentError, NotFoundError)) as caught:
        tagged.scan(incremental=incremental)
    assert words in str(caught.value)


def test_a_mode_that_tags_do_not_have_is_refused(tagged: Table) -> None:
    with pytest.raises(InvalidArgumentError, match="two tags are compared"):
        tagged.scan(incremental=("old", "new"), incremental_mode="delta")


def test_partitions_of_other_bucket_counts_are_not_compared() -> None:
    with pytest.raises(InvalidArgumentError, match="2 buckets in the older snapshot and 5"):
        golden("pk_rescale").scan(incremental=(1, 3), incremental_mode="diff").plan()


def test_no_change_and_no_snapshot_give_no_rows() -> None:
    built = build_table(KEYED, [Step("write", range(6))])
    assert built.table.scan(incremental=(1, 1)).count() == 0
    assert build_table(KEYED).table.scan(incremental=(1, 2)).count() == 0
    assert built.table.scan(options={"scan.mode": "latest-delta"}).count() == 6


@pytest.mark.parametrize("mode", ["delta", "diff"])
def test_a_condition_chooses_among_the_changes(mode: str) -> None:
    shape = Shape(buckets=2, is_partitioned=True)
    steps = [Step("write", range(12)), Step("write", range(6, 18)), Step("write", range(3))]
    table = build_table(shape, steps).table
    every = table.scan(incremental=(1, 3), incremental_mode=mode).to_arrow()
    for where in ("dt = '2026-01-02'", "id < 8", "amount > 3", "dt > '2026-01-01' AND id = 7"):
        scan = table.scan(where=where, incremental=(1, 3), incremental_mode=mode)
        predicate = parse_predicate(where, table.schema.row_type, time_zone=UTC)
        wanted = filter_table(every, predicate)
        assert sorted_rows(scan.to_arrow()) == sorted_rows(wanted)
        assert scan.count() == wanted.num_rows
        few = table.scan(["id"], where=where, incremental=(1, 3), incremental_mode=mode)
        assert sorted_rows(few.to_arrow()) == sorted_rows(wanted.select(["id"]))


def test_a_difference_and_the_older_rows_make_the_newer_ones() -> None:
    steps = [
        Step("write", range(12)),
        Step("write", range(6, 18)),
        Step("delete", (1, 7)),
        Step("overwrite", range(5, 9)),
        Step("write", (7, 30)),
    ]
    built = build_table(KEYED, steps)
    ids = sorted(built.past)
    for start in ids:
        for end in ids[ids.index(start) :]:
            scan = built.table.scan(incremental=(start, end), incremental_mode="diff")
            before = {row["id"]: row for row in built.past[start]}
            wanted = [row for row in built.past[end] if before.get(row["id"]) != row]
            assert sorted_rows(scan.to_arrow()) == sorted_rows(wanted)


def test_a_changelog_outlives_its_snapshot(tmp_path: Path) -> None:
    copy = tmp_path / "t"
    shutil.copytree(f"{DATABASE}/cl_input", copy)
    wanted = golden("cl_input").scan(incremental=(1, 5), incremental_mode="changelog").to_arrow()
    (copy / "changelog").mkdir()
    for number in (1, 2, 3):
        shutil.move(copy / f"snapshot/snapshot-{number}", copy / f"changelog/changelog-{number}")
    table = lakebed.load_table(str(copy))
    found = table.scan(incremental=(1, 5), incremental_mode="changelog")
    assert found.to_arrow() == wanted
    with pytest.raises(NotFoundError, match="snapshot '2' does not exist"):
        table.scan(incremental=(1, 5), incremental_mode="delta")
    with pytest.raises(NotFoundError, match="snapshot '1' does not exist"):
        table.scan(snapshot_id=1)


def test_an_append_that_deletes_files_is_no_append(tmp_path: Path) -> None:
    copy = tmp_path / "t"
    shutil.copytree(f"{DATABASE}/append_dml_cow", copy)
    path = next(
        path
        for path in sorted((copy / "snapshot").glob("snapshot-*"))
        if Snapshot.from_json(path.read_bytes(), str(path)).commit_kind == "OVERWRITE"
    )
    path.write_bytes(path.read_bytes().replace(b'"OVERWRITE"', b'"APPEND"'))
    number = int(path.name.removeprefix("snapshot-"))
    scan = lakebed.load_table(str(copy)).scan(incremental=(number - 1, number))
    with pytest.raises(CorruptTableError, match="deletes files"):
        scan.plan()


def test_an_automatic_tag_is_compared_with_the_one_before(tmp_path: Path) -> None:
    copy = tmp_path / "t"
    shutil.copytree(f"{DATABASE}/cl_input", copy)
    (copy / "tag").mkdir()
    for day, number in (("2026-01-01", 1), ("2026-01-02", 3), ("2026-01-04", 5)):
        shutil.copy(copy / f"snapshot/snapshot-{number}", copy / f"tag/tag-{day}")
    shutil.copy(copy / "snapshot/snapshot-4", copy / "tag/tag-mine")
    table = lakebed.load_table(str(copy))

    def to(tag: str) -> pa.Table:
        return table.scan(options={"incremental-to-auto-tag": tag}).to_arrow()

    assert to("2026-01-04") == table.scan(incremental=("2026-01-02", "2026-01-04")).to_arrow()
    assert to("2026-01-04").num_rows == 1
    assert to("2026-01-01").num_rows == 0
    assert to("2026-01-03").num_rows == 0
    with pytest.raises(InvalidArgumentError, match="'mine' is no name of an automatic tag"):
        to("mine")


def test_changelogs_that_were_packed_into_one_file_are_told_as_before() -> None:
    shape = Shape(buckets=3).with_options({"changelog-producer": "input", "write-only": "true"})
    table = build_table(shape, [Step("write", range(30))]).table
    (snapshot,), parts, store = table.snapshots(), table.parts(), table.file_io
    expected = sorted_rows(table.scan(incremental=(0, 1), incremental_mode="changelog").to_arrow())
    (meta,) = parts.manifests.changelog_files(snapshot)
    entries = entries_from_columns(parts.manifests.entries([meta]))
    pieces, names, offset = [], list[str](), 0
    for entry in entries:
        path = parts.paths.data_file("", entry.bucket, entry.file.file_name)
        pieces.append(store.read(path))
        store.delete(path)
        stem = f"compacted-changelog-a${entries[0].bucket}-{len(pieces[0])}"
        part = f"-{offset}-{len(pieces[-1])}" * (offset > 0)
        names.append(f"{stem}{part}.cc-parquet")
        offset += len(pieces[-1])
    assert len(names) == 3
    store.write(parts.paths.data_file("", entries[0].bucket, names[0]), b"".join(pieces))
    renamed = [
        replace(entry, file=replace(entry.file, file_name=name))
        for entry, name in zip(entries, names, strict=True)
    ]
    size = write_manifest(store, parts.paths.manifest("packed"), renamed)
    packed = replace(meta, file_name="packed", file_size=size)
    size = write_manifest_list(store, parts.paths.manifest("packed-list"), [packed])
    changed = msgspec.structs.replace(
        snapshot, changelog_manifest_list="packed-list", changelog_manifest_list_size=size
    )
    store.write(parts.paths.snapshot(snapshot.id), changed.to_json())
    told = table.scan(incremental=(0, 1), incremental_mode="changelog").to_arrow()
    assert len(expected) == 30
    assert sorted_rows(told) == expected
