"""Lakebed behind the operations of `tools.peers.process`, for runs beside its peers."""

from pathlib import Path

from serving import Answer, Stopwatch, load_rows, save_rows, serve

import lakebed
from lakebed.table.planning.plan import Visibility
from lakebed.table.reading.scan_source import SnapshotSource


def create(
    *,
    table: str,
    schema: str,
    primary_key: list[str],
    partition_by: list[str],
    options: dict[str, str],
) -> Answer:
    """Creates a table with the columns of an Arrow file."""
    warehouse, directory, name = table.rsplit("/", 2)
    database = directory.removesuffix(".db")
    catalog = lakebed.load_catalog(warehouse=warehouse)
    catalog.create_database(database, ignore_if_exists=True)
    catalog.create_table(
        f"{database}.{name}",
        schema=load_rows(schema).schema,
        primary_key=primary_key,
        partition_by=partition_by,
        options=options,
    )
    return None


def write(*, table: str, data: str) -> Answer:
    """Appends or upserts the rows of an Arrow file in one commit."""
    rows = load_rows(data)
    with Stopwatch() as watch:
        lakebed.load_table(table).append(rows)
    return {"seconds": watch.seconds, "rows": rows.num_rows}


def read(*, table: str, out: str | None = None, snapshot: int | None = None) -> Answer:
    """Reads the whole table."""
    with Stopwatch() as watch:
        rows = lakebed.load_table(table).scan(snapshot_id=snapshot).to_arrow()
    save_rows(rows, out)
    return {"seconds": watch.seconds, "rows": rows.num_rows}


def read_every_level(*, table: str) -> Answer:
    """Reads the whole table, level 0 also where the merge engine hides it from readers."""
    with Stopwatch() as watch:
        parts = lakebed.load_table(table).parts()
        snapshot = parts.snapshots.latest()
        scan = parts.scan(SnapshotSource(snapshot=snapshot, visibility=Visibility.ALL))
        rows = scan.to_arrow()
    return {"seconds": watch.seconds, "rows": rows.num_rows}


def peak_memory(*, table: str, options: dict[str, str]) -> Answer:
    """Reads batch by batch, keeping none; how far resident memory rose, in bytes."""
    handle = lakebed.load_table(table, options)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = _status_bytes("VmRSS")
    rows = sum(batch.num_rows for batch in handle.scan().to_batches())
    return {"bytes": _status_bytes("VmHWM") - before, "rows": rows}


def plan(*, table: str, where: str | None) -> Answer:
    """Plans a scan and reads nothing; how far resident memory rose meanwhile, in bytes."""
    handle = lakebed.load_table(table)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = _status_bytes("VmRSS")
    with Stopwatch() as watch:
        splits = handle.scan(where=where).plan().splits
    peak = _status_bytes("VmHWM") - before
    return {"seconds": watch.seconds, "splits": len(splits), "peak_bytes": peak}


def _status_bytes(name: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise LookupError(name)


if __name__ == "__main__":
    serve(
        {
            "create": create,
            "write": write,
            "read": read,
            "read_every_level": read_every_level,
            "peak_memory": peak_memory,
            "plan": plan,
        }
    )
