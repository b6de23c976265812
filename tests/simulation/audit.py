"""What must hold when all is quiet: what is there reads as it must, and nothing else is left."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from lakebed.format.paths import MAIN_BRANCH, branch_name_of
from lakebed.table.metadata.tags import Tags
from lakebed.table.table import Table
from simulation.faults import Process, Rates
from simulation.records import Intent, Removal
from simulation.world import World
from support.needed_files import lacking_and_unneeded

_LATER_MS = 10_000


def audit(world: World) -> None:
    """Reads what is there, ends what was begun, cleans up and looks what is left."""
    process = world.process("audit", Rates())
    table = world.open(process)
    world.journal.check_end()
    for path in world.journal.left_adrift():
        world.store.delete(path)
    _drop_doubtful_tags(world, table)
    branches = _branches_left(world, process, table)
    for branch in (MAIN_BRANCH, *branches):
        _check_rows(world, replace(table, branch=branch))
    if world.journal.latest() is None:
        return
    world.scheduler.now_ms += _LATER_MS
    since = world.scheduler.now_ms - 1
    with _operation(world, process, "expired"):
        for branch in (MAIN_BRANCH, *branches):
            replace(table, branch=branch).expire_snapshots(older_than=0)
    with _operation(world, process, ""):
        table.remove_orphan_files(older_than=since)
    lacking, unneeded = lacking_and_unneeded(table, branches)
    if lacking or unneeded:
        world.journal.violated(
            f"at the end {sorted(lacking)} are not there, and {sorted(unneeded)} are not needed"
        )


@contextmanager
def _operation(world: World, process: Process, removes: Removal) -> Iterator[None]:
    world.journal.begin(process, Intent(what="the audit", removes=removes))
    yield
    world.journal.end(process, "acknowledged")


def _drop_doubtful_tags(world: World, table: Table) -> None:
    """Deletes tags of whose making nobody was told; they may name what is gone."""
    known, paths = world.journal.tag_names(), table.parts().paths
    for name in Tags(world.store, paths).list_names():
        if name not in known:
            world.store.delete(paths.tag(name))


def _branches_left(world: World, process: Process, table: Table) -> list[str]:
    """The branches that were acknowledged; others are deleted."""
    left = []
    for status in world.store.list(table.parts().paths.branch_directory):
        name = branch_name_of(status.name)
        if name is None:
            continue
        if world.journal.holds_branch(name):
            left.append(name)
            continue
        with _operation(world, process, "branch"):
            table.delete_branch(name)
    return left


def _check_rows(world: World, table: Table) -> None:
    newest = world.journal.latest(table.branch)
    if newest is None:
        return
    found = table.scan().to_arrow().to_pylist()
    rows = tuple(sorted(tuple(row[name] for name in world.kind.names) for row in found))
    if rows != newest.contents.state:
        world.journal.violated(
            f"{table.branch} reads as {rows} where {newest.contents.state} must be"
        )
