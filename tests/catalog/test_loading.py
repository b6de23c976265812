from pathlib import Path

import pyarrow as pa
import pytest

import lakebed
from lakebed.errors import InvalidArgumentError, NotFoundError, UnsupportedError

ROWS = pa.table({"id": [1, 2]})


def test_a_catalog_opens_by_its_arguments_or_its_options(tmp_path: Path) -> None:
    by_argument = lakebed.load_catalog(warehouse=str(tmp_path), metastore="filesystem")
    by_option = lakebed.load_catalog({"warehouse": tmp_path.as_uri(), "metastore": "filesystem"})
    by_argument.create_database("db")
    by_argument.create_table("db.t", schema=ROWS.schema).append(ROWS)
    assert by_option.load_table("db.t").scan().count() == 2


def test_a_table_opens_by_its_path_alone(tmp_path: Path) -> None:
    catalog = lakebed.load_catalog(warehouse=str(tmp_path))
    catalog.create_database("db")
    catalog.create_table("db.t", schema=ROWS.schema).append(ROWS)
    path = tmp_path / "db.db" / "t"
    table = lakebed.load_table(path.as_uri())
    for spelling in (str(path), path.as_uri(), f"{path}/"):
        assert lakebed.load_table(spelling).scan().to_arrow().to_pylist() == ROWS.to_pylist()
    table.append(ROWS)
    assert catalog.load_table("db.t").scan().count() == 4


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, InvalidArgumentError, "a catalog needs its warehouse"),
        ({"warehouse": "/other"}, InvalidArgumentError, "warehouse is given twice"),
        ({"metastore": "hive"}, UnsupportedError, "hive"),
        ({"warehose": "/x"}, InvalidArgumentError, "'warehose'.*'warehouse'"),
        ({"lakebed.merge.memory": "lots"}, InvalidArgumentError, "lakebed.merge.memory"),
        ({"lakebed.time-zone": "Mars/North"}, InvalidArgumentError, "no time zone"),
        ({"lakebed.read.threads": 0}, InvalidArgumentError, "lakebed.read.threads"),
        ({"table-default.buckets": 3}, InvalidArgumentError, "table-default.buckets"),
    ],
)
def test_options_that_cannot_be_are_refused(
    tmp_path: Path, *, options: dict[str, str], error: type[Exception], message: str
) -> None:
    warehouse = None if not options else str(tmp_path)
    with pytest.raises(error, match=message):
        lakebed.load_catalog(options, warehouse=warehouse)
    assert list(tmp_path.iterdir()) == []


def test_a_system_table_opens_by_the_path_of_its_table(tmp_path: Path) -> None:
    catalog = lakebed.load_catalog(warehouse=str(tmp_path))
    catalog.create_database("db")
    catalog.create_table("db.t", schema=ROWS.schema).append(ROWS)
    path = tmp_path / "db.db" / "t"
    files = lakebed.load_table(f"{path.as_uri()}$files")
    assert files.name == f"{path.as_uri()}$files"
    row = files.scan(["file_path", "record_count"]).to_arrow().to_pylist()[0]
    assert row["record_count"] == 2
    assert Path(row["file_path"].removeprefix("file://")).parent == path / "bucket-0"
    assert lakebed.load_table(f"{path}$branch_main$schemas").scan().count() == 1
    with pytest.raises(NotFoundError, match="There is files"):
        lakebed.load_table(f"{path}$fils")
    with pytest.raises(NotFoundError, match="The table has no branch"):
        lakebed.load_table(f"{path}$branch_b1")


def test_sys_shows_the_catalog_s_options_where_the_catalog_allows(tmp_path: Path) -> None:
    options = {"catalog-options-table.enabled": "true"}
    catalog = lakebed.load_catalog(options, warehouse=str(tmp_path))
    assert "catalog_options" in catalog.list_tables("sys")
    rows = catalog.load_table("sys.catalog_options").scan().to_arrow().to_pylist()
    assert {"key": "warehouse", "value": str(tmp_path)} in rows


def test_a_path_without_a_table_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="holds schema/schema-0") as caught:
        lakebed.load_table(str(tmp_path / "nothing"))
    assert caught.value.kind == "table"


def test_a_store_of_an_unknown_scheme_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="xyz"):
        lakebed.load_catalog(warehouse="xyz://bucket/lake")


def test_no_key_of_a_store_shows_in_a_repr(tmp_path: Path) -> None:
    catalog = lakebed.load_catalog({"s3.secret-key": "hidden"}, warehouse=str(tmp_path))
    catalog.create_database("db")
    table = catalog.create_table("db.t", schema=ROWS.schema)
    for shown in (catalog, table, table.session, table.parts()):
        assert "hidden" not in repr(shown)
