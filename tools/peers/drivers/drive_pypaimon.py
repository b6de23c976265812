"""pypaimon 2.1.0 behind the operations of `tools.peers.process`; runs in its own environment."""

from pypaimon import CatalogFactory, Schema
from pypaimon.catalog.catalog import Catalog
from serving import Answer, Stopwatch, load_rows, save_rows, serve


def _locate(path: str) -> tuple[Catalog, str]:
    """The catalog and the identifier of the table in a directory."""
    warehouse, database, name = path.rsplit("/", 2)
    catalog = CatalogFactory.create({"warehouse": warehouse})
    return catalog, f"{database.removesuffix('.db')}.{name}"


def create(
    *, table: str, schema: str, primary_key: list[str], partition_by: list[str], options: dict
) -> Answer:
    """Creates a table with the columns of an Arrow file."""
    catalog, identifier = _locate(table)
    catalog.create_database(identifier.split(".")[0], ignore_if_exists=True)
    made = Schema.from_pyarrow_schema(
        load_rows(schema).schema,
        partition_keys=partition_by,
        primary_keys=primary_key,
        options=options,
    )
    catalog.create_table(identifier, made, ignore_if_exists=False)
    return None


def write(*, table: str, data: str) -> Answer:
    """Appends or upserts the rows of an Arrow file in one commit."""
    rows = load_rows(data)
    with Stopwatch() as watch:
        catalog, identifier = _locate(table)
        builder = catalog.get_table(identifier).new_batch_write_builder()
        writer, commit = builder.new_write(), builder.new_commit()
        writer.write_arrow(rows)
        commit.commit(writer.prepare_commit())
        writer.close()
        commit.close()
    return {"seconds": watch.seconds, "rows": rows.num_rows}


def read(*, table: str, out: str | None = None, snapshot: int | None = None) -> Answer:
    """Reads the whole table."""
    with Stopwatch() as watch:
        catalog, identifier = _locate(table)
        handle = catalog.get_table(identifier)
        if snapshot is not None:
            handle = handle.copy({"scan.snapshot-id": str(snapshot)})
        builder = handle.new_read_builder()
        rows = builder.new_read().to_arrow(builder.new_scan().plan().splits())
    save_rows(rows, out)
    return {"seconds": watch.seconds, "rows": rows.num_rows}


if __name__ == "__main__":
    serve({"create": create, "write": write, "read": read})
