"""Which tables do the generated queries read, in Lakebed and as plain copies in Spark?

Names are chosen to be mistaken: a table is called as another's column, a temporary view as a
table, columns as words of SQL. A copy has its table's name in a database of that name too, so that
a query differs in the catalog alone; a version of a table is a copy of its own.
"""

from dataclasses import dataclass

from pyspark.sql import SparkSession

DATABASE = "db"
PLAIN_CATALOG = "spark_catalog"
LAKE_CATALOG = "lake"


@dataclass(frozen=True, slots=True)
class Column:
    """A column, and what it can be used for.

    Attributes:
        name: Its name, unquoted.
        kind: One of the kinds that `expressions` knows.
    """

    name: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A table or view that queries can name.

    Attributes:
        name: Its name, unquoted.
        columns: Its columns, in order.
        versions: The versions that can be read.
        is_view: Whether it is a temporary view in both sessions.
    """

    name: str
    columns: tuple[Column, ...]
    versions: tuple[int, ...] = ()
    is_view: bool = False


def _columns(text: str) -> tuple[Column, ...]:
    """Columns and kinds, as `name:kind name:kind`; an underscore stands for a space."""
    pairs = (word.split(":") for word in text.split())
    return tuple(Column(name.replace("_", " "), kind) for name, kind in pairs)


SHAPES = (
    Shape(
        name="orders",
        columns=_columns("id:int customer:int amount:dec note:text day:text tags:texts"),
        versions=(1, 2, 3),
    ),
    Shape(
        name="people",
        columns=_columns("id:int name:text age:int info:info joined:date"),
        versions=(1, 2),
    ),
    Shape(name="events", columns=_columns("id:int kind:text at:ts score:real attrs:map flag:bool")),
    Shape(name="info", columns=_columns("id:int city:text size:int parts:infos nums:ints")),
    Shape(name="order", columns=_columns("select:int from:text count:int a_b:text people:int")),
    Shape(name="empty", columns=_columns("id:int name:text day:text")),
    Shape(name="shadow", columns=_columns("id:int what:text")),
)
VIEWS = (
    Shape(name="plain", columns=_columns("id:int name:text size:int"), is_view=True),
    Shape(name="shadow", columns=_columns("id:int hidden:text"), is_view=True),
)
SYSTEM_SHAPES = (
    Shape(
        name="orders$snapshots",
        columns=(Column("snapshot_id", "int"), Column("commit_kind", "text")),
    ),
)

_STATEMENTS = """
CREATE TABLE lake.db.orders (id BIGINT, customer INT, amount DECIMAL(10, 2), note STRING,
    day STRING, tags ARRAY<STRING>) PARTITIONED BY (day);
INSERT INTO lake.db.orders SELECT id, id % 7, id * 1.25, if(id % 5 = 0, null, concat('n', id % 4)),
    concat('2024-01-0', id % 3 + 1), array('x', concat('t', id % 3)) FROM range(12);
INSERT INTO lake.db.orders SELECT id, null, null, 'it', '2024-01-02', array() FROM range(12, 16);
INSERT INTO lake.db.orders SELECT id - 10, id % 3, 7.5, '10', '2024-01-04', null
    FROM range(16, 22);
CREATE TABLE lake.db.people (id INT, name STRING, age INT, info STRUCT<city: STRING, size: INT,
    id: INT>, joined DATE) TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '2');
INSERT INTO lake.db.people SELECT id, concat('p', id % 6), id % 4, named_struct('city',
    concat('c', id % 3), 'size', id % 5, 'id', id), date_add(DATE '2024-01-01', id)
    FROM (SELECT CAST(id AS INT) id FROM range(15));
INSERT INTO lake.db.people SELECT id, if(id % 4 = 0, null, concat('q', id % 3)), null,
    if(id % 6 = 0, null, named_struct('city', 'c1', 'size', null, 'id', id - 1)), DATE '2024-01-05'
    FROM (SELECT CAST(id AS INT) id FROM range(0, 18, 2));
CREATE TABLE lake.db.events (id INT, kind STRING, at TIMESTAMP, score DOUBLE,
    attrs MAP<STRING, INT>, flag BOOLEAN) TBLPROPERTIES ('deletion-vectors.enabled' = 'true');
INSERT INTO lake.db.events SELECT id, concat('p', id % 4),
    timestamp_seconds(1704067200 + id * 3600), id / 2, map('a', id, 'b', id % 3), id % 3 = 1
    FROM (SELECT CAST(id AS INT) id FROM range(14));
INSERT INTO lake.db.events SELECT id, null, null, null, null, null FROM range(10, 14);
DELETE FROM lake.db.events WHERE id % 4 = 2;
CREATE TABLE lake.db.info (id INT, city STRING, size INT,
    parts ARRAY<STRUCT<id: INT, city: STRING>>, nums ARRAY<INT>)
    PARTITIONED BY (size) TBLPROPERTIES ('primary-key' = 'id,size', 'bucket' = '1');
INSERT INTO lake.db.info SELECT id, concat('c', id % 3), id % 2,
    array(named_struct('id', id, 'city', 'c1')), array(id, 2, null)
    FROM (SELECT CAST(id AS INT) id FROM range(10));
INSERT INTO lake.db.info SELECT id, null, id % 2, null, null
    FROM (SELECT CAST(id AS INT) id FROM range(4, 12, 3));
CREATE TABLE lake.db.`order` (`select` INT, `from` STRING, `count` INT, `a b` STRING, people INT);
INSERT INTO lake.db.`order` SELECT id, concat('c', id % 3), id % 4, 'x', id * 2 FROM range(8);
CREATE TABLE lake.db.empty (id INT, name STRING, day STRING);
CREATE TABLE lake.db.shadow (id INT, what STRING);
INSERT INTO lake.db.shadow VALUES (1, 'table'), (2, null)
"""
_VIEWS = (
    """CREATE OR REPLACE TEMPORARY VIEW plain AS
    SELECT CAST(id AS INT) AS id, concat('p', id % 5) AS name, CAST(id % 3 AS INT) AS size
    FROM range(3, 11)""",
    """CREATE OR REPLACE TEMPORARY VIEW shadow AS
    SELECT * FROM VALUES (1, 'view'), (3, null) AS v(id, hidden)""",
    "DECLARE OR REPLACE VARIABLE threshold INT DEFAULT 3",
    # A variable goes behind columns of its name.
    "DECLARE OR REPLACE VARIABLE id INT DEFAULT 2",
)


def make_tables(lake: SparkSession, plain: SparkSession) -> None:
    """The tables in the catalog `lake` of one session, and copies that both sessions see."""
    lake.sql(f"CREATE DATABASE {LAKE_CATALOG}.{DATABASE}")
    plain.sql(f"CREATE DATABASE {PLAIN_CATALOG}.{DATABASE}")
    for statement in _STATEMENTS.split(";"):
        lake.sql(statement)
    for shape in (*SHAPES, *SYSTEM_SHAPES):
        _copy(lake, f"`{shape.name}`", copied_name(shape.name))
        for version in shape.versions:
            source = f"`{shape.name}` VERSION AS OF {version}"
            _copy(lake, source, copied_name(shape.name, version=version))
    for session in (lake, plain):
        for statement in _VIEWS:
            session.sql(statement)


def copied_name(name: str, *, version: int | None = None) -> str:
    """The plain copy of a table, of one of its versions or of a system table."""
    return name.replace("$", "_of_") + ("" if version is None else f"_v{version}")


def _copy(lake: SparkSession, source: str, name: str) -> None:
    frame = lake.sql(f"SELECT * FROM {LAKE_CATALOG}.{DATABASE}.{source}")
    # One file, read as one task: there are few rows.
    frame.coalesce(1).write.saveAsTable(f"{PLAIN_CATALOG}.{DATABASE}.`{name}`")
