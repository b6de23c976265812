"""What every catalog must keep: a backend subclasses `CatalogContract` and gets each test.

class TestFilesystemCatalog(CatalogContract):
    @pytest.fixture
    def catalog(self) -> Catalog: ...
"""

import pyarrow as pa
import pytest

from lakebed.catalog.catalog import Catalog
from lakebed.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    InvalidTableError,
    NotFoundError,
    UnsupportedError,
)
from lakebed.format.schema_definition import schema

COLUMNS: list[tuple[str, pa.DataType]] = [("id", pa.int64()), ("v", pa.string())]
SCHEMA = pa.schema(COLUMNS)
ROWS = pa.table({"id": [1, 2], "v": ["a", "b"]})
BAD_NAMES = ["", "a/b", "../x", ".", "a$b", "a b ", "x\ny", "a*", 'q"', "b`"]


class CatalogContract:
    """The promises of `lakebed.catalog.catalog`, one test each."""

    @pytest.fixture
    def catalog(self) -> Catalog:
        raise NotImplementedError("the backend's test class gives an empty catalog")

    # Databases.

    def test_a_new_catalog_has_no_database(self, catalog: Catalog) -> None:
        assert catalog.list_databases() == []
        assert catalog.warehouse

    def test_databases_are_made_listed_sorted_and_dropped(self, catalog: Catalog) -> None:
        for name in ("b", "a", "c d"):
            catalog.create_database(name)
        assert catalog.list_databases() == ["a", "b", "c d"]
        assert catalog.list_tables("a") == []
        catalog.drop_database("b")
        assert catalog.list_databases() == ["a", "c d"]

    def test_a_database_is_made_once(self, catalog: Catalog) -> None:
        catalog.create_database("db")
        catalog.create_database("db", ignore_if_exists=True)
        with pytest.raises(AlreadyExistsError) as caught:
            catalog.create_database("db")
        assert (caught.value.kind, caught.value.name) == ("database", "db")

    def test_a_missing_database_is_not_found(self, catalog: Catalog) -> None:
        catalog.create_database("orders")
        catalog.drop_database("nothing", ignore_if_not_exists=True)
        for act in (
            lambda: catalog.drop_database("order"),
            lambda: catalog.list_tables("order"),
            lambda: catalog.load_table("order.t"),
            lambda: catalog.create_table("order.t", schema=SCHEMA),
            lambda: catalog.drop_table("order.t"),
        ):
            with pytest.raises(NotFoundError, match="There is orders") as caught:
                act()
            assert (caught.value.kind, caught.value.name) == ("database", "order")
        assert catalog.list_databases() == ["orders"]

    def test_a_database_with_tables_is_dropped_by_cascade_alone(self, catalog: Catalog) -> None:
        catalog.create_database("db")
        catalog.create_table("db.t", schema=SCHEMA)
        with pytest.raises(InvalidTableError, match=r"'t' among them.*with cascade"):
            catalog.drop_database("db")
        assert catalog.list_tables("db") == ["t"]
        catalog.drop_database("db", cascade=True)
        assert catalog.list_databases() == []
        catalog.create_database("db")
        assert catalog.list_tables("db") == []

    @pytest.mark.parametrize("name", BAD_NAMES)
    def test_a_name_that_cannot_be_is_refused(self, catalog: Catalog, name: str) -> None:
        catalog.create_database("db")
        with pytest.raises(InvalidArgumentError):
            catalog.create_database(name)
        with pytest.raises((InvalidArgumentError, UnsupportedError)):
            catalog.create_table(f"db.{name}", schema=SCHEMA)
        assert catalog.list_databases() == ["db"]
        assert catalog.list_tables("db") == []

    # Tables.

    def test_a_table_is_what_it_was_made_as(self, catalog: Catalog) -> None:
        catalog.create_database("db")
        made = catalog.create_table(
            "db.t",
            schema=schema(
                [("id", "BIGINT"), ("dt", "STRING"), ("v", "CHAR(3)", {"comment": "three"})]
            ),
            primary_key=["id", "dt"],
            partition_by=["dt"],
            options={"bucket": 4, "write-only": True},
            comment="all orders",
        )
        found = catalog.load_table("db.t")
        assert found.schema == made.schema
        assert found.name == "db.t"
        assert found.location == made.location
        assert found.primary_keys == ["id", "dt"]
        assert found.partition_keys == ["dt"]
        assert dict(found.options) == {"bucket": "4", "write-only": "true"}
        assert found.comment == "all orders"
        assert [field.id for field in found.schema.fields] == [0, 1, 2]
        assert [field.type.nullable for field in found.schema.fields] == [False, False, True]
        assert found.schema.field("v").description == "three"
        assert "db.t" in repr(found)

    def test_tables_are_listed_sorted_and_dropped_with_their_rows(self, catalog: Catalog) -> None:
        catalog.create_database("db")
        for name in ("b", "a"):
            catalog.create_table(f"db.{name}", schema=SCHEMA).append(ROWS)
        assert catalog.list_tables("db") == ["a", "b"]
        catalog.drop_table("db.a")
        catalog.drop_table("db.a", ignore_if_not_exists=True)
        assert catalog.list_tables("db") == ["b"]
        assert catalog.create_table("db.a", schema=SCHEMA).scan().count() == 0
        assert catalog.load_table("db.b").scan().count() == 2

    def test_a_table_is_made_once(self, catalog: Catalog) -> None:
        catalog.create_database("db")
        made = catalog.create_table("db.t", schema=SCHEMA)
        other = pa.schema([("x", pa.int8())])
        again = catalog.create_table("db.t", schema=other, ignore_if_exists=True)
        assert again.schema == made.schema
        with pytest.raises(AlreadyExistsError) as caught:
            catalog.create_table("db.t", schema=other)
        assert (caught.value.kind, caught.value.name) == ("table", "db.t")
        assert catalog.load_table("db.t").schema == made.schema

    def test_a_missing_table_is_not_found_and_near_ones_are_named(self, catalog: Catalog) -> None:
        catalog.create_database("db")
        catalog.create_table("db.orders", schema=SCHEMA)
        for act in (
            lambda: catalog.load_table("db.order"),
            lambda: catalog.drop_table("db.order"),
            lambda: catalog.rename_table("db.order", "db.x"),
        ):
            with pytest.raises(NotFoundError, match="There is orders") as caught:
                act()
            assert (caught.value.kind, caught.value.name) == ("table", "db.order")

    @pytest.mark.parametrize("name", ["t", ".t", "db.", "", "db"])
    def test_a_name_without_database_or_table_is_refused(self, catalog: Catalog, name: str) -> None:
        catalog.create_database("db")
        with pytest.raises(InvalidArgumentError, match="no table name"):
            catalog.load_table(name)

    def test_rename_moves_the_table_with_its_rows(self, catalog: Catalog) -> None:
        catalog.create_database("db")
        catalog.create_database("other")
        catalog.create_table("db.t", schema=SCHEMA).append(ROWS)
        catalog.rename_table("db.t", "other.u")
        assert catalog.list_tables("db") == []
        moved = catalog.load_table("other.u")
        assert moved.scan().to_arrow().to_pylist() == ROWS.to_pylist()
        moved.append(ROWS)
        assert moved.scan().count() == 4

    def test_rename_onto_a_table_or_into_nowhere_is_refused(self, catalog: Catalog) -> None:
        catalog.create_database("db")
        catalog.create_table("db.t", schema=SCHEMA).append(ROWS)
        catalog.create_table("db.u", schema=SCHEMA)
        with pytest.raises(AlreadyExistsError):
            catalog.rename_table("db.t", "db.u")
        with pytest.raises(NotFoundError, match="database 'nothing'"):
            catalog.rename_table("db.t", "nothing.u")
        assert catalog.list_tables("db") == ["t", "u"]
        assert catalog.load_table("db.t").scan().count() == 2

    @pytest.mark.parametrize("name", ["db.t$snapshots", "db.t$branch_b1", "db.t$branch_b1$files"])
    def test_what_is_not_built_yet_says_so(self, catalog: Catalog, name: str) -> None:
        catalog.create_database("db")
        catalog.create_table("db.t", schema=SCHEMA)
        with pytest.raises(UnsupportedError, match="not supported yet"):
            catalog.load_table(name)

    def test_tables_of_any_name_are_apart(self, catalog: Catalog) -> None:
        catalog.create_database("db")
        names = ["T", "t", "t 1", "tä", "t.u", "t%2F", "t=1"]
        for name in names:
            catalog.create_table(f"db.{name}", schema=SCHEMA)
        assert catalog.list_tables("db") == sorted(names)
        for name in names:
            assert catalog.load_table(f"db.{name}").name == f"db.{name}"
