"""Cleanings of tables in which every file is old."""

from dataclasses import replace
from functools import cache

from lakebed.format.arrow.typing import python_values
from lakebed.storage.file_io import FileIO
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from support.effects import reopen
from support.expiring_tables import CHANGELOGS, KEYED, SHAPES, STEPS, keep
from support.index_files import write_with_indexes
from support.needed_files import put_branch, put_tag
from support.store_listing import list_files, read_store
from support.table_builder import BuiltTable, Shape, build_table

LATER_MS = 4_102_444_800_000  # 2100-01-01T00:00:00Z
UUID = "0f0e0d0c-1111-2222-3333-444444444444"
INDEXED = KEYED.with_options({"manifest.merge-min-count": "2"})
POSTPONED = Shape(buckets=-2)
NAMED = CHANGELOGS.with_options({"data-file.prefix": "odd.", "changelog-file.prefix": "log("})
EVERY = {
    **SHAPES,
    "indexed": INDEXED,
    "postponed": POSTPONED,
    "named otherwise": NAMED,
}


def clean(table: Table, file_io: FileIO | None = None, *, dry_run: bool = False) -> set[str]:
    """Removes the orphan files of a table, long after they were written; tells their paths."""
    later = reopen(table, file_io or table.file_io, clock=lambda: LATER_MS)
    return set(python_values(later.remove_orphan_files(LATER_MS - 1, dry_run=dry_run)["path"]))


def litter(table: Table) -> set[str]:
    """Puts an orphan into each directory that may have some."""
    paths = table.parts().paths
    names = (
        paths.manifest(f"manifest-{UUID}-0"),
        paths.manifest(f"manifest-list-{UUID}-0"),
        paths.manifest(f"index-manifest-{UUID}-0"),
        paths.manifest(f".manifest-{UUID}-1.{UUID}.tmp"),
        paths.index(f"index-{UUID}-0"),
        paths.statistics(f"stat-{UUID}-0"),
        f"{paths.snapshot_directory}/.snapshot-9.{UUID}.tmp",
        f"{paths.schema_directory}/.schema-9.{UUID}.tmp",
        f"{paths.tag_directory}/.tag-t.{UUID}.tmp",
        f"{paths.of_branch('dev').snapshot_directory}/.LATEST.{UUID}.tmp",
        paths.staging("a") + "/_temporary/0/part-00000.parquet",
    )
    for path in names:
        table.file_io.write(path, b"orphan")
    return set(names)


@cache
def stored(name: str) -> BuiltTable:
    """A table with a past, a tag and a branch of snapshots that expired, files beside files."""
    built = build_table(EVERY[name], STEPS[:2] if name == "postponed" else STEPS)
    put_tag(built.table, "held", 2)
    put_tag(built.table, "first", 1)
    put_branch(built.table, "dev", "first")
    built.file_io.delete(built.table.parts().paths.tag("first"))
    if name == "indexed":
        for _ in range(2):
            write_with_indexes(built.table, built.arrow([built.shape.row(1, 9)]))
    keep(built.table, 3)
    return built


def build(name: str) -> BuiltTable:
    """A copy of that table."""
    file_io = MemoryFileIO()
    for path, data in read_store(stored(name).file_io, "memory:/").items():
        file_io.write(path, data)
    return replace(stored(name), table=reopen(stored(name).table, file_io), file_io=file_io)


def paths_below(table: Table) -> set[str]:
    return set(list_files(table.file_io, table.location))


def paths_in(table: Table, directory: str) -> list[str]:
    return list(list_files(table.file_io, f"{table.location}/{directory}"))
