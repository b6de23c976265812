"""Orphan files are found wherever they are, and nothing else is ever deleted."""

from dataclasses import replace

import pyarrow as pa
import pytest

from lakebed.errors import (
    InvalidArgumentError,
    StorageError,
)
from lakebed.storage.memory import MemoryFileIO
from support.cleaned_tables import (
    EVERY,
    LATER_MS,
    UUID,
    build,
    clean,
    litter,
    paths_below,
    paths_in,
)
from support.effects import EPOCH_MS, reopen
from support.expiring_tables import (
    CHANGELOGS,
    KEYED,
    NOTHING,
    STEPS,
    UNAWARE,
    ids_of,
    keep,
    rows_at,
)
from support.faulty_file_io import FaultyFileIO
from support.needed_files import lacking_and_unneeded
from support.store_listing import read_store
from support.table_builder import build_table, sorted_rows


@pytest.mark.parametrize("name", EVERY)
def test_nothing_that_is_needed_is_an_orphan(name: str) -> None:
    built = build(name)
    before = read_store(built.file_io, "memory:/")
    assert clean(built.table) == set()
    assert read_store(built.file_io, "memory:/") == before


@pytest.mark.parametrize("name", EVERY)
def test_what_lost_its_last_name_goes(name: str) -> None:
    built = build(name)
    paths = built.table.parts().paths
    gone = [paths.tag("held"), *paths_in(built.table, "branch")]
    for path in [*gone, *(paths.snapshot(each) for each in ids_of(built.table)[:-1])]:
        built.file_io.delete(path)
    unneeded = lacking_and_unneeded(built.table)[1]
    assert len(unneeded) > 1
    assert clean(built.table) == unneeded
    assert lacking_and_unneeded(built.table) == NOTHING
    if name != "indexed":
        assert rows_at(built.table) == sorted_rows(built.rows)


def test_orphans_of_every_directory_go_and_nothing_with_them() -> None:
    built = build("append")
    before = paths_below(built.table)
    found = litter(built.table)
    place = next(each for each in before if "/bucket-" in each).rpartition("/")[0]
    for name in (
        f"data-{UUID}-0.parquet",
        f".data-{UUID}-1.orc.1f.tmp",
        f"changelog-{UUID}-2.avro",
    ):
        built.file_io.write(f"{place}/{name}", b"orphan")
        found.add(f"{place}/{name}")
    assert clean(built.table, dry_run=True) == found
    assert paths_below(built.table) == before | found
    assert clean(built.table) == found
    assert paths_below(built.table) == before
    assert not any(
        ".lakebed-staging" in each.path for each in built.file_io.list(built.table.location)
    )


FOREIGN = (
    "notes.txt",
    "manifest/notes.txt",
    "index/.data-x.crc",
    "snapshot/snapshot-x",
    "snapshot/.notes.1.tmp",
    "tag/tag-success-file/x_SUCCESS",
    "service/service-primary-key-lookup",
    "dt=2026-01-01/_SUCCESS",
    "dt=2026-01-01/bucket-0/_committed_17",
    "dt=2026-01-01/bucket-0/part-00000.parquet",
    f"dt=2026-01-01/bucket-x/data-{UUID}-0.parquet",
    f"dt=2026-01-01/data-{UUID}-0.parquet",
    f"other=1/bucket-0/data-{UUID}-0.parquet",
    f"data-{UUID}-0.parquet",
)


def test_files_that_no_writer_of_the_format_names_so_stay() -> None:
    built = build("append")
    paths = {f"{built.table.location}/{name}" for name in FOREIGN}
    for path in paths:
        built.file_io.write(path, b"somebody's")
    assert clean(built.table) == set()
    assert paths <= paths_below(built.table)


def test_files_of_other_prefixes_that_the_table_had_are_found() -> None:
    built = build("named otherwise")
    names = {f"data-{UUID}-0.parquet", f"odd.{UUID}-0.parquet", f"log({UUID}-0.parquet"}
    found = {f"{built.table.location}/bucket-0/{name}" for name in names}
    for path in found:
        built.file_io.write(path, b"orphan")
    built.file_io.write(f"{built.table.location}/bucket-0/oddy{UUID}-0.parquet", b"somebody's")
    assert clean(built.table) == found


def test_orphans_are_found_wherever_a_schema_had_data_put() -> None:
    built = build("append")
    parts = built.table.parts()
    for number, (key, text) in enumerate(
        {
            "data-file.external-paths": "memory:/far/a, memory:/far/b/",
            "data-file.path-directory": "rows/here",
        }.items(),
        start=1,
    ):
        options = {**parts.schema.options, key: text}
        parts.schemas.put(replace(parts.schema, id=number, options=options))
    name = f"data-{UUID}-0.parquet"
    roots = ("memory:/far/a", "memory:/far/b", f"{built.table.location}/rows/here")
    for root in roots:
        for directory in ("", "/bucket-0", "/dt=x", "/dt=x/bucket-postpone"):
            built.file_io.write(f"{root}{directory}/{name}", b"orphan")
    assert clean(built.table) == {f"{root}/dt=x/bucket-postpone/{name}" for root in roots}


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = EPOCH_MS

    def __call__(self) -> int:
        return self.now


def test_files_stay_for_a_day_or_as_long_as_is_said() -> None:
    clock = Clock()
    built = build_table(UNAWARE, STEPS[:1], file_io=MemoryFileIO(clock=clock))
    table = reopen(built.table, built.file_io, clock=clock)
    first = litter(table)
    clock.now += 10 * 60 * 60 * 1000
    second = table.parts().paths.manifest(f"manifest-{UUID}-7")
    built.file_io.write(second, b"orphan")
    day_ms = 24 * 60 * 60 * 1000
    clock.now = EPOCH_MS + day_ms
    assert table.remove_orphan_files(dry_run=True).num_rows == 0
    clock.now += 1
    told = table.remove_orphan_files(dry_run=True)
    assert set(told["path"].to_pylist()) == first
    assert set(told["file_size"].to_pylist()) == {6}
    assert set(told["modification_time"].cast(pa.int64()).to_pylist()) == {EPOCH_MS}
    both = table.remove_orphan_files("2026-01-01 10:00:00.001")
    assert set(both["path"].to_pylist()) == first | {second}


def test_a_staging_directory_stays_as_long_as_something_in_it_is_young() -> None:
    clock = Clock()
    built = build_table(UNAWARE, STEPS[:1], file_io=MemoryFileIO(clock=clock))
    table = reopen(built.table, built.file_io, clock=clock)
    staging = table.parts().paths.staging("a")
    built.file_io.write(f"{staging}/old.parquet", b"1")
    clock.now += 1000
    built.file_io.write(f"{staging}/_temporary/0/young.parquet", b"2")
    clock.now += 1000
    assert table.remove_orphan_files(EPOCH_MS + 1000).num_rows == 0
    assert table.remove_orphan_files(EPOCH_MS + 1001).num_rows == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"older_than": LATER_MS}, "which is not past"),
        ({"older_than": "soon"}, "'soon' is no time"),
        ({"parallelism": 0}, "parallelism is 0"),
        ({"mode": "distributed"}, "CALL sys.remove_orphan_files"),
    ],
)
def test_arguments_that_cannot_be_are_refused(arguments: dict[str, object], words: str) -> None:
    built = build_table(KEYED, STEPS[:1])
    with pytest.raises(InvalidArgumentError, match=words):
        built.table.remove_orphan_files(**arguments)  # type: ignore[arg-type]


def test_what_an_expiry_that_broke_off_has_yet_to_delete_is_left_to_it() -> None:
    built = build_table(CHANGELOGS, STEPS)

    class Dying(FaultyFileIO):
        def delete(self, path: str) -> bool:
            if "/snapshot/" not in path:
                raise StorageError(path, "died")
            return super().delete(path)

    with pytest.raises(StorageError, match="died"):
        keep(reopen(built.table, Dying(built.file_io, 0)), 2)
    assert lacking_and_unneeded(built.table)[1] != set()
    assert clean(built.table) == set()
    keep(built.table, 2)
    assert lacking_and_unneeded(built.table) == NOTHING


def test_files_of_a_changelog_that_outlives_its_snapshot_are_needed() -> None:
    built = build_table(CHANGELOGS, STEPS)
    parts = built.table.parts()
    told = next(each for each in built.table.snapshots() if each.changelog_manifest_list)
    built.file_io.write(parts.paths.changelog(told.id), told.to_json())
    for each in ids_of(built.table)[:-1]:
        built.file_io.delete(parts.paths.snapshot(each))
    meta = parts.manifests.changelog_files(told)[0]
    entry = parts.manifests.entries([meta]).to_pylist()[0]
    kept = {
        parts.paths.manifest(str(told.changelog_manifest_list)),
        parts.paths.manifest(meta.file_name),
        f"{built.table.location}/bucket-{entry['bucket']}/{entry['file_name']}",
    }
    clean(built.table)
    assert kept <= paths_below(built.table)
    assert lacking_and_unneeded(built.table) == NOTHING


def test_a_purge_leaves_the_schemas_and_a_snapshot_without_rows() -> None:
    built = build("changelogs")
    litter(built.table)
    table = reopen(built.table, built.file_io, clock=lambda: LATER_MS)
    parts = table.parts()
    parts.file_io.write(parts.paths.consumer("job"), b'{"nextSnapshot": 9}')
    last = ids_of(table)[-1]
    table.purge_files()
    assert ids_of(table) == [last + 1]
    snapshot = parts.snapshots.load(last + 1)
    lists = {snapshot.base_manifest_list, snapshot.delta_manifest_list}
    named = {meta.file_name for meta in parts.manifests.files(snapshot)}
    assert paths_below(table) == {
        *(parts.paths.manifest(name) for name in (*lists, *named)),
        parts.paths.schema(0),
        parts.paths.snapshot(last + 1),
        parts.paths.latest_hint,
        parts.paths.earliest_hint,
    }
    assert rows_at(table) == []
    with pytest.raises(InvalidArgumentError, match="branch 'dev' shares files"):
        replace(table, branch="dev").purge_files()
