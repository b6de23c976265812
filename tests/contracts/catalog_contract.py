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
    CommitConflictError,
    InvalidArgumentError,
    InvalidTableError,
    NotFoundError,
    UnsupportedError,
)
from lakebed.format.altering.changes import AddColumn, DropColumn, RenameColumn, SetComment
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

    def test_a_replaced_table_is_another_one_with_its_old_snapshots(self, catalog: Catalog) -> None:
        catalog.create_database("db")
        old = catalog.create_table("db.t", schema=SCHEMA, options={"write-only": True})
        old.append(ROWS)
        new = catalog.replace_table(
            "db.t",
            schema=schema([("v", "STRING"), ("id", "INT"), ("w", "ROW<a INT>")]),
            primary_key=["id"],
            options={"bucket": 2},
            comment="new",
        )
        found = catalog.load_table("db.t")
        assert found.schema == new.schema
        assert (found.schema.id, found.primary_keys, found.comment) == (1, ["id"], "new")
        assert dict(found.options) == {"bucket": "2"}
        # `v` is as it was, `id` has another type.
        assert [field.id for field in found.schema.fields] == [1, 2, 3]
        assert found.schema.highest_field_id == 4
        assert found.scan().count() == 0
        found.upsert(pa.table({"v": ["x"], "id": pa.array([1], "int32"), "w": [{"a": 1}]}))
        assert found.scan(["id", "v"]).to_arrow().to_pylist() == [{"id": 1, "v": "x"}]
        assert found.scan(snapshot_id=1).to_arrow().to_pylist() == ROWS.to_pylist()
        assert found.check().is_clean

    def test_a_table_that_cannot_be_replaced_stays_as_it_is(self, catalog: Catalog) -> None:
        catalog.create_database("db")
        table = catalog.create_table("db.t", schema=SCHEMA, partition_by=["v"])
        table.append(ROWS)
        columns = SCHEMA
        with pytest.raises(InvalidTableError, match=r"partitioned by \(v\), its repl"):
            catalog.replace_table("db.t", schema=columns)
        with pytest.raises(InvalidTableError, match="partition column 'v'"):
            catalog.replace_table(
                "db.t", schema=schema([("id", "BIGINT"), ("v", "INT")]), partition_by=["v"]
            )
        with pytest.raises(InvalidTableError):
            catalog.replace_table("db.t", schema=columns, partition_by=["v"], primary_key=["no"])
        with pytest.raises(InvalidTableError, match="no option"):
            catalog.replace_table(
                "db.t", schema=columns, partition_by=["v"], options={"no-such-option": "1"}
            )
        with pytest.raises(NotFoundError, match="There is t"):
            catalog.replace_table("db.tt", schema=columns)
        with pytest.raises(InvalidArgumentError, match="branch"):
            catalog.replace_table("db.t$branch_b", schema=columns)
        found = catalog.load_table("db.t")
        assert found.schema == table.schema
        assert found.scan().to_arrow().sort_by("id").to_pylist() == ROWS.to_pylist()
        assert len(found.snapshots()) == 1

    def test_a_table_whose_schema_others_changed_is_not_replaced(self, catalog: Catalog) -> None:
        catalog.create_database("db")
        catalog.create_table("db.t", schema=SCHEMA).append(ROWS)
        late = catalog.replacement("db.t", schema=SCHEMA)
        catalog.alter_table("db.t", [AddColumn("w", "INT")])
        with pytest.raises(CommitConflictError, match="nothing was replaced"):
            late.carry_out()
        assert catalog.load_table("db.t").scan().count() == 2

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

    def test_a_system_table_stands_behind_the_name(self, catalog: Catalog) -> None:
        catalog.create_database("db")
        catalog.create_table("db.t", schema=SCHEMA).append(ROWS)
        snapshots = catalog.load_table("db.t$snapshots")
        assert snapshots.name == "db.t$snapshots"
        assert snapshots.primary_keys == ["snapshot_id"]
        assert snapshots.scan(["snapshot_id", "commit_kind"]).to_arrow().to_pylist() == [
            {"snapshot_id": 1, "commit_kind": "APPEND"}
        ]
        assert catalog.load_table("db.t$branch_main$files").scan().count() == 1
        assert catalog.list_tables("db") == ["t"]

    def test_a_view_of_no_table_or_of_no_name_is_not_found(self, catalog: Catalog) -> None:
        catalog.create_database("db")
        catalog.create_table("db.t", schema=SCHEMA)
        for name, kind in (
            ("db.u$files", "table"),
            ("db.t$filess", "system table"),
            ("db.t$branch_b1", "branch"),
            ("db.t$branch_b1$files", "branch"),
        ):
            with pytest.raises(NotFoundError) as caught:
                catalog.load_table(name)
            assert caught.value.kind == kind

    @pytest.mark.parametrize("name", ["db.t$", "db.t$files$files", "db.t$branch_", "db.t$a$b$c"])
    def test_a_dollar_with_something_else_behind_is_refused(
        self, catalog: Catalog, name: str
    ) -> None:
        catalog.create_database("db")
        catalog.create_table("db.t", schema=SCHEMA)
        with pytest.raises(InvalidArgumentError, match="names no table"):
            catalog.load_table(name)

    def test_a_view_is_neither_made_nor_dropped_nor_renamed(self, catalog: Catalog) -> None:
        catalog.create_database("db")
        catalog.create_table("db.t", schema=SCHEMA)
        for act in (
            lambda: catalog.create_table("db.t$branch_b", schema=SCHEMA),
            lambda: catalog.drop_table("db.t$files", ignore_if_not_exists=True),
            lambda: catalog.rename_table("db.t", "db.t$files"),
        ):
            with pytest.raises(InvalidArgumentError, match="name the table alone"):
                act()
        assert catalog.list_tables("db") == ["t"]

    # Tables about all tables.

    def test_sys_has_the_tables_about_all_and_is_not_listed(self, catalog: Catalog) -> None:
        assert catalog.list_databases() == []
        assert catalog.list_tables("sys") == ["all_table_options", "partitions", "tables"]
        assert catalog.load_table("sys.tables").scan().count() == 0
        with pytest.raises(NotFoundError, match="There is tables"):
            catalog.load_table("sys.table")
        with pytest.raises(NotFoundError, match="There is all_table_options"):
            catalog.load_table("sys.catalog_options")

    def test_sys_tables_shows_every_table(self, catalog: Catalog) -> None:
        catalog.create_database("db")
        catalog.create_database("other")
        catalog.create_table("other.a", schema=SCHEMA).append(ROWS)
        catalog.create_table(
            "db.p",
            schema=SCHEMA,
            primary_key=["id", "v"],
            partition_by=["v"],
            options={"bucket": 1},
        )
        tables = catalog.load_table("sys.TABLES")
        assert tables.name == "sys.tables"
        shown = ["database_name", "table_name", "table_type", "partitioned", "primary_key"]
        assert [tuple(row.values()) for row in tables.scan(shown).to_arrow().to_pylist()] == [
            ("db", "p", "table", True, True),
            ("other", "a", "table", False, False),
        ]
        assert tables.scan(where="partitioned").count() == 1
        assert tables.scan(["record_count"]).to_arrow().column(0).null_count == 2

    def test_sys_partitions_sums_up_every_partitioned_table(self, catalog: Catalog) -> None:
        catalog.create_database("db")
        catalog.create_table("db.flat", schema=SCHEMA).append(ROWS)
        table = catalog.create_table(
            "db.p",
            schema=SCHEMA,
            primary_key=["id", "v"],
            partition_by=["v"],
            options={"bucket": 1},
        )
        table.append(ROWS)
        table.append(ROWS)
        rows = catalog.load_table("sys.partitions").scan().to_arrow().to_pylist()
        assert [(row["table_name"], row["partition_name"]) for row in rows] == [
            ("p", "v=a"),
            ("p", "v=b"),
        ]
        assert [(row["record_count"], row["file_count"]) for row in rows] == [(2, 2), (2, 2)]
        last = catalog.load_table("db.p$partitions").scan(["last_update_time"]).to_arrow()
        assert [row["last_file_creation_time"] for row in rows] == (
            last.column(0).cast(pa.int64()).to_pylist()
        )
        assert {row["done"] for row in rows} == {False}

    def test_sys_all_table_options_shows_paths_too(self, catalog: Catalog) -> None:
        catalog.create_database("db")
        table = catalog.create_table("db.t", schema=SCHEMA, options={"write-only": True})
        options = catalog.load_table("sys.all_table_options")
        assert [tuple(row.values()) for row in options.scan().to_arrow().to_pylist()] == [
            ("db", "t", "write-only", "true"),
            ("db", "t", "path", table.location),
        ]

    def test_sys_is_never_changed(self, catalog: Catalog) -> None:
        tables = catalog.load_table("sys.tables")
        for act in (
            lambda: catalog.create_database("sys", ignore_if_exists=True),
            lambda: catalog.drop_database("sys", cascade=True),
            lambda: catalog.create_table("sys.t", schema=SCHEMA),
            lambda: catalog.drop_table("sys.tables", ignore_if_not_exists=True),
            lambda: tables.scan(snapshot_id=1),
        ):
            with pytest.raises(InvalidArgumentError):
                act()
        with pytest.raises(UnsupportedError, match=r"sys\.tables is a system table"):
            tables.append(ROWS)

    def test_tables_of_any_name_are_apart(self, catalog: Catalog) -> None:
        catalog.create_database("db")
        names = ["T", "t", "t 1", "tä", "t.u", "t%2F", "t=1"]
        for name in names:
            catalog.create_table(f"db.{name}", schema=SCHEMA)
        assert catalog.list_tables("db") == sorted(names)
        for name in names:
            assert catalog.load_table(f"db.{name}").name == f"db.{name}"

    # Changed schemas.

    def test_a_table_is_altered_all_at_once_or_not_at_all(self, catalog: Catalog) -> None:
        catalog.create_database("db")
        catalog.create_table("db.t", schema=SCHEMA).append(ROWS)
        changed = catalog.alter_table("db.t", [RenameColumn("v", "w"), AddColumn("n", "INT")])
        assert changed.schema == catalog.load_table("db.t").schema
        assert changed.scan(["w", "n"]).to_arrow().sort_by("w").to_pylist() == [
            {"w": "a", "n": None},
            {"w": "b", "n": None},
        ]
        with pytest.raises(NotFoundError, match="column 'v'"):
            catalog.alter_table("db.t", [SetComment("no"), DropColumn("v")])
        assert catalog.load_table("db.t").comment is None

    def test_what_is_no_table_of_its_own_is_not_altered(self, catalog: Catalog) -> None:
        catalog.create_database("db")
        catalog.create_table("db.orders", schema=SCHEMA)
        with pytest.raises(NotFoundError, match="There is orders"):
            catalog.alter_table("db.order", [SetComment("x")])
        for name in ("db.orders$files", "sys.tables"):
            with pytest.raises(InvalidArgumentError):
                catalog.alter_table(name, [SetComment("x")])
