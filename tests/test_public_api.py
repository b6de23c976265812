"""The public names are those that the documents name, and no other."""

import inspect

import pytest

import lakebed
from lakebed import errors
from lakebed.catalog.catalog import Catalog
from lakebed.table.reading.scan import Scan
from lakebed.table.table import Table

PUBLIC = [
    *(
        "Schema",
        "Table",
        "__version__",
        "changes",
        "errors",
        "load_catalog",
        "load_table",
        "schema",
    ),
]
TABLE = {
    *("append", "comment", "delete", "latest_snapshot", "name", "location", "file_io", "session"),
    *("options", "options_report", "overwrite", "partition_keys", "parts", "primary_keys", "scan"),
    *("schema", "snapshots", "truncate", "upsert", "update", "writer", "branch", "drop_partitions"),
    *("create_branch", "delete_branch", "rename_branch", "fast_forward", "merge_branch"),
    *("rollback", "rollback_to_timestamp", "rollback_to_watermark"),
    *("compact", "compact_manifest", "expire_snapshots", "rescale", "rewrite_file_index"),
    *("expire_changelogs", "expire_partitions", "mark_partition_done"),
    *("reset_consumer", "clear_consumers", "check", "stream", "streams", "following"),
    *("create_tag", "create_tag_from_timestamp", "replace_tag", "rename_tag", "delete_tag"),
    *("expire_tags", "trigger_tag_automatic_creation"),
    *("purge_files", "remove_orphan_files", "remove_unexisting_files", "repair_earliest_snapshot"),
}
SCAN = {
    *("count", "explain", "plan", "schema", "to_arrow", "to_batches", "to_duckdb", "to_pandas"),
    *("to_polars", "source", "form", "planner", "reader", "limit", "threads", "table_schema"),
    *("min", "max"),
}
CATALOG = {
    *(
        "alter_table",
        "create_database",
        "create_table",
        "drop_database",
        "drop_table",
        "list_databases",
    ),
    *("list_tables", "load_table", "rename_table", "replace_table", "replacement", "warehouse"),
}


def test_all_names_what_can_be_used() -> None:
    assert sorted(lakebed.__all__) == PUBLIC
    assert dir(lakebed) == PUBLIC
    for name in lakebed.__all__:
        assert getattr(lakebed, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'lakebed' has no attribute 'load_tabel'"):
        getattr(lakebed, "load_tabel")  # noqa: B009 - as a misspelling is found


@pytest.mark.parametrize(("kind", "names"), [(Table, TABLE), (Scan, SCAN), (Catalog, CATALOG)])
def test_members_are_those_that_are_documented(kind: type, names: set[str]) -> None:
    fields = set(getattr(kind, "__dataclass_fields__", ()))
    found = {name for name in {*dir(kind), *fields} if not name.startswith("_")}
    assert found == names


def test_scan_takes_the_arguments_that_are_documented() -> None:
    assert list(inspect.signature(Table.scan).parameters) == [
        *("self", "columns", "where", "limit", "snapshot_id", "tag", "timestamp", "watermark"),
        *("incremental", "incremental_mode", "options"),
    ]


def test_every_error_is_of_the_tree_and_says_whom_it_speaks_to() -> None:
    kinds = [getattr(errors, name) for name in errors.__all__]
    assert all(issubclass(kind, errors.LakebedError) for kind in kinds)
    assert issubclass(errors.InvalidArgumentError, ValueError)
    assert all(kind.__doc__ for kind in kinds)


def test_version_is_the_package_s() -> None:
    assert lakebed.__version__.count(".") == 2
