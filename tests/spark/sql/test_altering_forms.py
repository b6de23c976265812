"""ALTER TABLE and its kin, as statements."""

import pytest
from pyspark.errors import ParseException

from lakebed.format.altering.changes import After, First
from lakebed.format.type_text import parse_type
from lakebed.spark.sql.altering.statements import (
    AddColumns,
    AlterColumns,
    AlterDatabase,
    ColumnAction,
    CommentOnTable,
    DropColumns,
    DropPartitions,
    NewColumn,
    RenameColumnTo,
    RenameTable,
    SetProperties,
    UnsetProperties,
)
from lakebed.spark.sql.altering.widening import is_same_to_spark, is_up_cast
from lakebed.spark.sql.parser import parse_statement
from lakebed.spark.sql.statements import Statement, Unsupported

T = ("l", "d", "t")


def altered(*columns: ColumnAction) -> AlterColumns:
    return AlterColumns(name=T, columns=columns)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "SET TBLPROPERTIES ('a.b' = '1', c.d = 2)",
            SetProperties(name=T, properties={"a.b": "1", "c.d": "2"}),
        ),
        (
            "UNSET TBLPROPERTIES IF EXISTS ('a.b', c.d)",
            UnsetProperties(name=T, keys=("a.b", "c.d"), if_exists=True),
        ),
        ("UNSET TBLPROPERTIES ('a')", UnsetProperties(name=T, keys=("a",), if_exists=False)),
        ("RENAME TO d.u", RenameTable(name=T, new_name=("d", "u"))),
        ("ADD COLUMN x INT", AddColumns(name=T, columns=(NewColumn(path=("x",), type="INT"),))),
        (
            """ADD COLUMNS (x STRUCT<a: INT, b: MAP<STRING, DECIMAL(3, 1)>> COMMENT 'it, is' FIRST,
            r.y STRING AFTER `p q` NOT NULL DEFAULT concat('a', 'b'))""",
            AddColumns(
                name=T,
                columns=(
                    NewColumn(
                        path=("x",),
                        type="STRUCT<a: INT, b: MAP<STRING, DECIMAL(3, 1)>>",
                        comment="it, is",
                        position=First(),
                    ),
                    NewColumn(
                        path=("r", "y"),
                        type="STRING",
                        position=After("p q"),
                        is_not_null=True,
                        default="concat('a', 'b')",
                    ),
                ),
            ),
        ),
        (
            "ADD COLUMNS x INT, y INT",
            AddColumns(
                name=T,
                columns=(NewColumn(path=("x",), type="INT"), NewColumn(path=("y",), type="INT")),
            ),
        ),
        (
            "DROP COLUMNS IF EXISTS (a, r.b)",
            DropColumns(name=T, columns=(("a",), ("r", "b")), if_exists=True),
        ),
        ("DROP COLUMN a, b", DropColumns(name=T, columns=(("a",), ("b",)), if_exists=False)),
        ("RENAME COLUMN r.a TO b", RenameColumnTo(name=T, column=("r", "a"), new_name="b")),
        (
            "ALTER COLUMN r.a TYPE DECIMAL(10, 2)",
            altered(ColumnAction(path=("r", "a"), type="DECIMAL(10, 2)")),
        ),
        ("ALTER a COMMENT 'x'", altered(ColumnAction(path=("a",), comment="x"))),
        ("CHANGE COLUMN a FIRST", altered(ColumnAction(path=("a",), position=First()))),
        ("CHANGE a SET NOT NULL", altered(ColumnAction(path=("a",), nullable=False))),
        ("ALTER COLUMN a DROP NOT NULL", altered(ColumnAction(path=("a",), nullable=True))),
        ("ALTER COLUMN a SET DEFAULT 'x, y'", altered(ColumnAction(path=("a",), default="'x, y'"))),
        ("ALTER COLUMN a DROP DEFAULT", altered(ColumnAction(path=("a",), drops_default=True))),
        (
            "ALTER COLUMN a TYPE BIGINT, b AFTER c",
            altered(
                ColumnAction(path=("a",), type="BIGINT"),
                ColumnAction(path=("b",), position=After("c")),
            ),
        ),
        (
            "CHANGE COLUMN a a BIGINT COMMENT 'x' AFTER b",
            altered(ColumnAction(path=("a",), type="BIGINT", comment="x", position=After("b"))),
        ),
        (
            "DROP IF EXISTS PARTITION (a = 1, b = 'x'), PARTITION (a = 2)",
            DropPartitions(name=T, partitions=({"a": "1", "b": "'x'"}, {"a": "2"}), if_exists=True),
        ),
        (
            "DROP PARTITION (a = 1)",
            DropPartitions(name=T, partitions=({"a": "1"},), if_exists=False),
        ),
    ],
)
def test_actions_become_statements(text: str, expected: Statement) -> None:
    assert parse_statement(f"ALTER TABLE l.d.t {text};") == expected


@pytest.mark.parametrize(
    ("text", "operation"),
    [
        ("ALTER TABLE l.d.t DROP PARTITION (a = 1) PURGE", "DROP PARTITION ... PURGE"),
        ("ALTER TABLE l.d.t ADD PARTITION (a = 1)", "ALTER TABLE ADD"),
        ("ALTER TABLE l.d.t ADD CONSTRAINT c CHECK (a > 1)", "ALTER TABLE ADD"),
        (
            "ALTER TABLE l.d.t PARTITION (a = 1) RENAME TO PARTITION (a = 2)",
            "ALTER TABLE PARTITION",
        ),
        ("ALTER TABLE l.d.t REPLACE COLUMNS (a INT)", "ALTER TABLE REPLACE"),
        (
            "ALTER TABLE l.d.t CHANGE COLUMN a b INT",
            "CHANGE COLUMN with a new name (RENAME COLUMN does that)",
        ),
        ("ALTER TABLE l.d.t CHANGE a a INT NOT NULL", "CHANGE COLUMN with NOT NULL or DEFAULT"),
        ("ALTER VIEW l.d.t RENAME TO u", "ALTER VIEW"),
    ],
)
def test_what_is_not_run_is_named(text: str, operation: str) -> None:
    assert parse_statement(text) == Unsupported(operation=operation, target=T)


def test_comments_and_databases_become_statements() -> None:
    for text, comment in (("'x'", "x"), ("NULL", None)):
        found = parse_statement(f"COMMENT ON TABLE l.d.t IS {text}")
        assert found == CommentOnTable(name=T, comment=comment)
    for word in ("DATABASE", "SCHEMA", "NAMESPACE"):
        found = parse_statement(f"ALTER {word} l.d SET DBPROPERTIES ('a' = 'b')")
        assert found == AlterDatabase(name=("l", "d"))


@pytest.mark.parametrize(
    "text",
    [
        "ADD COLUMN",
        "ADD COLUMN x",
        "ADD COLUMNS (x INT",
        "ADD COLUMN x INT COMMENT 'a' COMMENT 'b'",
        "ADD COLUMN x INT FIRST AFTER y",
        "ADD COLUMN x INT NOT",
        "ADD COLUMN x INT DEFAULT",
        "ADD COLUMNS (x INT) AND MORE",
        "DROP COLUMN a b",
        "RENAME COLUMN a b",
        "RENAME COLUMN a TO b.c",
        "ALTER COLUMN a",
        "ALTER COLUMN a TYPE",
        "ALTER COLUMN a SET NULL",
        "ALTER COLUMN a TYPE INT COMMENT 'x'",
        "ALTER COLUMN a TYPE INT NOT NULL",
        "UNSET TBLPROPERTIES ('a' = 'b')",
        "SET TBLPROPERTIES ('a')",
        "DROP PARTITION (a > 1)",
    ],
)
def test_what_is_no_clause_is_a_parse_error(text: str) -> None:
    with pytest.raises(ParseException):
        parse_statement(f"ALTER TABLE l.d.t {text}")


# Asked of Spark 3.5 with the real connector.
@pytest.mark.parametrize(
    ("source", "target", "is_allowed"),
    [
        ("INT", "BIGINT", True),
        ("INT", "TINYINT", False),
        ("INT", "STRING", True),
        ("INT", "DOUBLE", True),
        ("INT", "FLOAT", True),
        ("INT", "DECIMAL(10, 0)", True),
        ("INT", "DECIMAL(9, 0)", False),
        ("INT", "DATE", False),
        ("DECIMAL(9, 0)", "INT", True),
        ("DECIMAL(9, 1)", "INT", False),
        ("DECIMAL(5, 2)", "DECIMAL(6, 2)", True),
        ("DECIMAL(5, 2)", "DECIMAL(5, 1)", False),
        ("DECIMAL(5, 2)", "DOUBLE", False),
        ("STRING", "INT", False),
        ("STRING", "VARCHAR(10)", False),
        ("VARCHAR(5)", "VARCHAR(10)", True),
        ("CHAR(5)", "VARCHAR(4)", False),
        ("CHAR(5)", "CHAR(6)", False),
        ("CHAR(5)", "STRING", True),
        ("DATE", "TIMESTAMP(6)", True),
        ("TIMESTAMP(6)", "TIMESTAMP(6) WITH LOCAL TIME ZONE", True),
        ("TIMESTAMP(6)", "DATE", False),
        ("BINARY(3)", "BYTES", True),
        ("BOOLEAN", "INT", False),
        ("VARIANT", "STRING", False),
        ("ROW<a INT>", "STRING", False),
    ],
)
def test_types_change_as_spark_lets_them(source: str, target: str, *, is_allowed: bool) -> None:
    assert is_up_cast(parse_type(source), parse_type(target)) is is_allowed


def test_spark_knows_no_precision_of_times_and_no_length_of_bytes() -> None:
    for source, target in (
        ("TIMESTAMP(3)", "TIMESTAMP(6)"),
        ("BINARY(3)", "BYTES"),
        ("INT", "INT NOT NULL"),
    ):
        assert is_same_to_spark(parse_type(source), parse_type(target))
    assert not is_same_to_spark(parse_type("CHAR(3)"), parse_type("CHAR(4)"))
    assert not is_same_to_spark(parse_type("ROW<a INT>"), parse_type("ROW<a INT>"))
