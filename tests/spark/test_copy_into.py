"""COPY INTO: files into tables, and rows into files."""

import gzip
import json
import os
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import Row, SparkSession

import lakebed

pytestmark = pytest.mark.spark

TABLE = "lake.db.copied"
CSV = "(TYPE = CSV)"
# Rows of which only the first and the last fit into the table below.
MIXED = "1,one\n2,two,2\nx,six\n,nul\n5,long\n6,six  \n"
ARITY = "malformed record: 2,two,2"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    directory = tmp_path / "in"
    directory.mkdir()
    return directory


@pytest.fixture
def table(spark: SparkSession) -> str:
    return make(spark, "id INT NOT NULL, name VARCHAR(3)")


def make(spark: SparkSession, columns: str) -> str:
    spark.sql(f"DROP TABLE IF EXISTS {TABLE}")
    spark.sql(f"CREATE TABLE {TABLE} ({columns})")
    return TABLE


def put(directory: Path, **files: str) -> None:
    for name, text in files.items():
        (directory / name).write_text(text)


def load(
    spark: SparkSession, source: Path, file_format: str = CSV, *, into: str = TABLE, how: str = ""
) -> list[tuple[Any, ...]]:
    """Loads a directory or a file, and gives the rows of the answer."""
    answer = spark.sql(f"COPY INTO {into} FROM '{source}' FILE_FORMAT = {file_format} {how}")
    assert answer.columns == [
        "file_name",
        "status",
        "rows_loaded",
        "rows_parsed",
        "errors_seen",
        "first_error",
    ]
    return [tuple(row) for row in answer.collect()]


def loaded(name: str, count: int) -> tuple[Any, ...]:
    return name, "LOADED", count, count, 0, None


def skipped(name: str) -> tuple[Any, ...]:
    return name, "SKIPPED", 0, 0, 0, None


def rows(spark: SparkSession, table: str = TABLE) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in spark.table(table).collect()), key=str)


def test_csv_is_read_by_position_as_its_options_say(spark: SparkSession, source: Path) -> None:
    table = make(spark, "n INT, x DECIMAL(5, 2), d DATE, ts TIMESTAMP_NTZ, s STRING, b BINARY")
    put(
        source,
        a="of|no|column|at|all|-\n1|1.5|2026-01-02|2026-01-02 03:04:05|'p|q'|B\n"
        "NULL|-|2026-01-03|-|'it\\'s'|NULL\n||||''|\n",
    )
    said = (
        r"(TYPE = csv, FIELD_DELIMITER = '|', SKIP_HEADER = 1, QUOTE = '\'', ESCAPE = '\\',"
        " NULL_IF = ('NULL', '-'))"
    )
    assert load(spark, source, said) == [loaded("a", 3)]
    at = datetime.fromisoformat("2026-01-02T03:04:05")
    assert rows(spark, table) == [
        (1, Decimal("1.50"), date(2026, 1, 2), at, "p|q", bytearray(b"B")),
        (None,) * 6,
        (None, None, date(2026, 1, 3), None, "it's", None),
    ]


@pytest.mark.parametrize(
    ("said", "empty", "errors"),
    [
        ("", None, 0),
        (", EMPTY_FIELD_AS_NULL = TRUE", None, 0),
        (", EMPTY_FIELD_AS_NULL = FALSE", "", 1),
    ],
)
def test_empty_fields_of_csv_are_null_unless_that_is_denied(
    spark: SparkSession, source: Path, *, said: str, empty: str | None, errors: int
) -> None:
    make(spark, "id STRING, name STRING, n INT")
    put(source, a='1,,1\n2,"",2\n3,c,\n')
    found = load(spark, source, f"(TYPE = CSV{said})", how="ON_ERROR = CONTINUE")
    assert rows(spark)[:2] == [("1", empty, 1), ("2", empty, 2)]
    # An empty text is no number.
    assert found[0][4] == errors


def test_listed_columns_are_filled_and_others_get_their_default(
    spark: SparkSession, source: Path
) -> None:
    columns = "id INT, name STRING, state STRING DEFAULT 'new', n INT NOT NULL DEFAULT 7"
    table = make(spark, columns)
    put(source, a="ada,1\n")
    load(spark, source, into=f"{table} (NAME, id)")
    assert rows(spark, table) == [(1, "ada", "new", 7)]


def test_a_file_is_loaded_once_until_it_is_changed_or_forced(
    spark: SparkSession, table: str, source: Path
) -> None:
    put(source, a="1,a\n", b="2,b\n")
    assert load(spark, source) == [loaded("a", 1), loaded("b", 1)]
    put(source, b="2,b\n3,c\n", c="\n")
    assert load(spark, source) == [loaded("b", 2), loaded("c", 0), skipped("a")]
    os.utime(source / "a", (1, 1))
    assert load(spark, source) == [loaded("a", 1), skipped("b"), skipped("c")]
    assert load(spark, source / "b") == [skipped("b")]
    assert load(spark, source / "b", how="FORCE = TRUE") == [loaded("b", 2)]
    assert [row[0] for row in rows(spark)] == [1, 1, 2, 2, 2, 3, 3]
    where = Path(spark.sql(f"SHOW TBLPROPERTIES {table} ('path')").collect()[0][1].split(":")[-1])
    records = [json.loads(each.read_text()) for each in (where / "copy-into/history").iterdir()]
    found = {(Path(each["filePath"]).name, each["rowsLoaded"]) for each in records}
    assert found == {("a", 1), ("b", 1), ("b", 2), ("c", 0)}
    assert {each["snapshotId"] for each in records} == {1, 2, 3, 4}
    assert not list((where / "copy-into/lakebed-pending").iterdir())
    assert lakebed.load_table(where.as_uri()).check().is_clean


def test_rows_that_cannot_be_loaded_abort_the_load_of_all_files(
    spark: SparkSession, table: str, source: Path
) -> None:
    put(source, a="1,one\n", b=MIXED)
    with pytest.raises(AnalysisException, match=f"b: 4 of 6 rows .*{ARITY}") as caught:
        load(spark, source, how="ON_ERROR = ABORT_STATEMENT")
    assert caught.value.getCondition() == "LAKEBED_INVALID_DATA"
    assert spark.table(table).count() == 0
    assert load(spark, source / "a") == [loaded("a", 1)]


@pytest.mark.usefixtures("table")
def test_rows_that_cannot_be_loaded_are_left_out_where_that_is_asked(
    spark: SparkSession, source: Path
) -> None:
    put(source, a="1,one\n", b=MIXED, c="c,c\n")
    found = load(spark, source, how="ON_ERROR = CONTINUE")
    failed = ("c", "LOAD_FAILED", 0, 1, 1, "column 'id' takes INT, not c")
    assert found == [loaded("a", 1), ("b", "PARTIALLY_LOADED", 2, 6, 4, ARITY), failed]
    assert rows(spark) == [(1, "one"), (1, "one"), (6, "six")]
    assert load(spark, source, how="ON_ERROR = CONTINUE") == [failed, skipped("a"), skipped("b")]


@pytest.mark.usefixtures("table")
def test_a_file_with_a_row_that_cannot_be_loaded_is_left_out_where_that_is_asked(
    spark: SparkSession, source: Path
) -> None:
    put(source, a="1,one\n", b=MIXED)
    failed = ("b", "LOAD_FAILED", 0, 6, 4, ARITY)
    assert load(spark, source, how="ON_ERROR = SKIP_FILE") == [loaded("a", 1), failed]
    assert rows(spark) == [(1, "one")]
    assert load(spark, source, how="ON_ERROR = SKIP_FILE") == [failed, skipped("a")]


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ("x,a", "column 'id' takes INT, not x"),
        ("3000000000,a", "column 'id' takes INT, not 3000000000"),
        ("1.5,a", "column 'id' takes INT, not 1.5"),
        (",a", "column 'id' is NOT NULL, and has no value"),
        ("1,long", "column 'name' takes VARCHAR(3), not long"),
        ("1", "malformed record: 1"),
    ],
)
def test_an_error_says_which_value_does_not_fit(
    spark: SparkSession, table: str, source: Path, *, row: str, error: str
) -> None:
    put(source, a=f"{row}\n")
    found = load(spark, source, how="ON_ERROR = SKIP_FILE")
    assert found == [("a", "LOAD_FAILED", 0, 1, 1, error)]
    assert spark.table(table).count() == 0


@pytest.mark.usefixtures("table")
def test_only_files_right_in_the_directory_whose_names_match_are_loaded(
    spark: SparkSession, source: Path
) -> None:
    odd = "b [1]*%20{x}.csv"
    for directory in (source, source / "id=7", source / "more"):
        directory.mkdir(exist_ok=True)
        put(directory, **{"a.csv": "1,a\n", odd: "2,b\n", "_SUCCESS": "", ".x.csv": "3,c\n"})
        put(directory, **{"a.csv.bak": "4,d\n"})
    assert load(spark, source, how=r"PATTERN = '\.csv$'") == [loaded("a.csv", 1), loaded(odd, 1)]
    assert rows(spark) == [(1, "a"), (2, "b")]
    assert load(spark, source, how="PATTERN = 'none'") == []


def test_compressed_files_are_read(spark: SparkSession, table: str, source: Path) -> None:
    (source / "a.csv.gz").write_bytes(gzip.compress(b"1,a\n"))
    assert load(spark, source, "(TYPE = CSV, COMPRESSION = GZIP)") == [loaded("a.csv.gz", 1)]
    assert rows(spark, table) == [(1, "a")]


def test_json_is_read_by_name_with_what_is_nested(spark: SparkSession, source: Path) -> None:
    columns = "id INT, name STRING, at DATE, tags ARRAY<INT>, who STRUCT<a: STRING, b: INT>"
    table = make(spark, columns)
    put(
        source,
        a='{"name": "NA", "more": 1, "id": "1", "who": {"b": 2, "a": "x"}}\n'
        '{"id": 2, "at": "2026-01-02", "tags": [1, 2], "name": ""}\n'
        '{"id": 3, "tags": ["no number"]}\n{"id": \n{"id": {"a": 1}}\n',
    )
    said = "(TYPE = JSON, NULL_IF = 'NA', EMPTY_FIELD_AS_NULL = TRUE)"
    ((*told, first),) = load(spark, source, said, how="ON_ERROR = CONTINUE")
    assert told == ["a", "PARTIALLY_LOADED", 2, 5, 3]
    assert first == 'malformed record: {"id": 3, "tags": ["no number"]}'
    assert rows(spark, table) == [
        (1, None, None, None, Row(a="x", b=2)),
        (2, None, date(2026, 1, 2), [1, 2], None),
    ]


def test_json_over_many_lines_is_read(spark: SparkSession, table: str, source: Path) -> None:
    put(source, a='[{"id": 1,\n "name": "a"},\n {"id": 2}]')
    assert load(spark, source, "(TYPE = JSON, MULTI_LINE = TRUE)") == [loaded("a", 2)]
    assert rows(spark, table) == [(1, "a"), (2, None)]


def test_parquet_is_read_by_name_whatever_columns_each_file_has(
    spark: SparkSession, source: Path
) -> None:
    table = make(spark, "id INT, name STRING, n BIGINT, who STRUCT<a: STRING, b: INT>")
    struct = "named_struct('B', 2, 'a', 'x')"
    queries = {
        "p": f"SELECT 'extra' AS more, 1L AS ID, {struct} AS who",
        "q": "SELECT id, name FROM VALUES (2L, 'two'), (3000000000L, 'three') AS (id, name)",
    }
    for name, query in queries.items():
        spark.sql(query).coalesce(1).write.parquet(str(source / "written" / name))
        (part,) = (source / "written" / name).glob("part-*")
        part.rename(source / name)
    said, how = "(TYPE = PARQUET, COMPRESSION = SNAPPY)", "ON_ERROR = SKIP_FILE"
    error = "column 'id' takes INT, not 3000000000"
    failed = ("q", "LOAD_FAILED", 0, 2, 1, error)
    assert load(spark, source, said, how=how) == [loaded("p", 1), failed]
    assert rows(spark, table) == [(1, None, None, Row(a="x", b=2))]
    assert load(spark, source, said, how="ON_ERROR = CONTINUE") == [
        ("q", "PARTIALLY_LOADED", 1, 2, 1, error),
        skipped("p"),
    ]
    assert rows(spark, table)[1] == (2, "two", None, None)


def test_a_broken_file_is_an_error_in_every_mode(
    spark: SparkSession, table: str, source: Path
) -> None:
    put(source, **{"a.csv": "1,a\n", "b.csv.gz": "no gzip"})
    with pytest.raises(Exception, match=r"b\.csv\.gz"):
        load(spark, source, how="ON_ERROR = SKIP_FILE")
    assert spark.table(table).count() == 0
    assert load(spark, source, how="PATTERN = '^a'") == [loaded("a.csv", 1)]


def test_rows_of_a_keyed_table_are_upserts(spark: SparkSession, source: Path) -> None:
    name = "lake.db.copied_by_key"
    spark.sql(
        f"CREATE TABLE {name} (id INT, d STRING, v STRING) PARTITIONED BY (d)"
        " TBLPROPERTIES ('primary-key' = 'id,d', 'bucket' = '1')"
    )
    put(source, a="1,x,one\n2,y,two\n", b="1,x,uno\n")
    load(spark, source / "a", into=name)
    load(spark, source / "b", into=name)
    assert rows(spark, name) == [(1, "x", "uno"), (2, "y", "two")]


@pytest.mark.parametrize(
    ("text", "condition", "told"),
    [
        ("{t} FROM '{d}' FILE_FORMAT = (A = B)", "LAKEBED_INVALID_ARGUMENT", "lacks its TYPE"),
        ("{t} FROM '{d}' FILE_FORMAT = (TYPE = ORC)", "LAKEBED_UNSUPPORTED", "ORC"),
        ("{t} FROM '{d}' FILE_FORMAT = (TYPE = CSV, MODE = 'x')", "LAKEBED_UNSUPPORTED", "MODE"),
        ("{t} FROM '{d}' FILE_FORMAT = (TYPE = JSON, QUOTE = 'x')", "LAKEBED_UNSUPPORTED", "QUOTE"),
        ("{t} FROM '{d}' FILE_FORMAT = (TYPE = CSV, HEADER = TRUE)", "LAKEBED_UNSUPPORTED", "HEAD"),
        (
            "{t} FROM '{d}' FILE_FORMAT = (TYPE = CSV, SKIP_HEADER = 2)",
            "LAKEBED_INVALID_ARGUMENT",
            "SKIP_HEADER = 2: give 0 or 1",
        ),
        (
            "{t} FROM '{d}' FILE_FORMAT = (TYPE = CSV, QUOTE = ('a', 'b'))",
            "LAKEBED_INVALID_ARGUMENT",
            "QUOTE takes one value",
        ),
        (
            "{t} FROM '{d}' FILE_FORMAT = (TYPE = CSV, COMPRESSION = GZIP)",
            "LAKEBED_INVALID_ARGUMENT",
            "COMPRESSION = GZIP, but the name of a ",
        ),
        ("{t} FROM 'in' FILE_FORMAT = (TYPE = CSV)", "LAKEBED_INVALID_ARGUMENT", "'in' is no path"),
        ("{t} FROM '{d}/no' FILE_FORMAT = (TYPE = CSV)", "PATH_NOT_FOUND", "/no"),
        ("{t} (id, ID) FROM '{d}' FILE_FORMAT = (TYPE = CSV)", "COLUMN_ALREADY_EXISTS", "`ID`"),
        (
            "{t} (id, nome) FROM '{d}' FILE_FORMAT = (TYPE = CSV)",
            "UNRESOLVED_COLUMN.WITH_SUGGESTION",
            "`nome`.*`name`",
        ),
        (
            "{t} (name) FROM '{d}' FILE_FORMAT = (TYPE = CSV)",
            "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_FIND_DATA",
            "output column `id`",
        ),
        ("lake.db.no FROM '{d}' FILE_FORMAT = (TYPE = CSV)", "TABLE_OR_VIEW_NOT_FOUND", "no"),
        (
            "`lake`.db.`copied$files` FROM '{d}' FILE_FORMAT = (TYPE = CSV)",
            "LAKEBED_UNSUPPORTED",
            "fil",
        ),
        ("'{d}' FROM {t} FILE_FORMAT = (TYPE = CSV)", "PATH_ALREADY_EXISTS", "in"),
        ("'{d}' FROM {t} FILE_FORMAT = (TYPE = CSV, NULL_IF = 'x')", "LAKEBED_UNSUPPORTED", "NULL"),
        ("'out' FROM {t} FILE_FORMAT = (TYPE = CSV)", "LAKEBED_INVALID_ARGUMENT", "'out' is no"),
    ],
)
def test_what_cannot_be_copied_is_refused_by_name(
    spark: SparkSession, table: str, source: Path, *, text: str, condition: str, told: str
) -> None:
    put(source, a="1,a\n")
    with pytest.raises(AnalysisException, match=told) as caught:
        spark.sql(f"COPY INTO {text.format(t=table, d=source)}").collect()
    assert caught.value.getCondition() == condition
    assert spark.table(table).count() == 0


def test_a_type_that_csv_lacks_is_refused(spark: SparkSession, source: Path) -> None:
    table = make(spark, "id INT, tags ARRAY<INT>")
    put(source, a="1\n")
    with pytest.raises(AnalysisException, match=r"'tags' has type ARRAY<INT>"):
        load(spark, source)
    assert load(spark, source, into=f"{table} (id)") == [loaded("a", 1)]
