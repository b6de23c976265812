"""pypaimon-rust 0.4.0 behind the operations of `tools.peers.process`; in its own environment."""

import pyarrow as pa
from pypaimon_rust.datafusion import PaimonCatalog, Table
from serving import Answer, Stopwatch, load_rows, save_rows, serve


def _load_table(path: str) -> Table:
    warehouse, database, name = path.rsplit("/", 2)
    catalog = PaimonCatalog({"warehouse": warehouse})
    return catalog.get_table(f"{database.removesuffix('.db')}.{name}")


def write(*, table: str, data: str) -> Answer:
    """Appends or upserts the rows of an Arrow file in one commit."""
    rows = load_rows(data)
    with Stopwatch() as watch:
        builder = _load_table(table).new_batch_write_builder()
        writer = builder.new_write()
        for batch in rows.to_batches():
            writer.write_arrow(batch)
        builder.new_commit().commit(writer.prepare_commit())
    return {"seconds": watch.seconds, "rows": rows.num_rows}


def read(
    *,
    table: str,
    out: str | None = None,
    options: dict[str, str] | None = None,
    columns: list[str] | None = None,
) -> Answer:
    """Reads a table: all columns or some, as the options of the scan say."""
    with Stopwatch() as watch:
        builder = _load_table(table).new_read_builder(options or {})
        if columns is not None:
            builder.with_projection(columns)
        batches = builder.new_read().read(builder.new_scan().plan().splits())
        # Without rows there are no batches, and so no schema either.
        rows = pa.Table.from_batches(batches) if batches else pa.table({})
    save_rows(rows, out)
    return {"seconds": watch.seconds, "rows": rows.num_rows}


if __name__ == "__main__":
    serve({"write": write, "read": read})
