"""What a COPY INTO is read as, and where one is none."""

import pytest
from pyspark.errors import ParseException

from lakebed.spark.sql.copying.statements import CopyIntoFiles, CopyIntoTable, OnError
from lakebed.spark.sql.parser import parse_statement

CSV = {"TYPE": "CSV"}


def test_a_load_has_all_its_clauses_in_any_order() -> None:
    text = r"""
        copy into lake.db.t (id, `from`) FROM '/in' on_error = skip_file PATTERN = '.*\.csv'
        FILE_FORMAT = (type = csv, skip_header = 1, Null_If = ('NULL', '\\N', ''), quote = '''')
        FORCE = true;
    """
    assert parse_statement(text) == CopyIntoTable(
        name=("lake", "db", "t"),
        columns=("id", "from"),
        path="/in",
        file_format={
            "TYPE": "csv",
            "SKIP_HEADER": "1",
            "NULL_IF": ("NULL", "\\N", ""),
            "QUOTE": "'",
        },
        pattern=r".*\.csv",
        is_forced=True,
        on_error=OnError.SKIP_FILE,
    )


def test_a_load_without_clauses_loads_new_files_and_aborts_on_errors() -> None:
    statement = parse_statement("COPY INTO t FROM '/in' FILE_FORMAT = (TYPE = 'CSV')")
    assert statement == CopyIntoTable(name=("t",), path="/in", file_format=CSV)


@pytest.mark.parametrize(
    ("source", "query"),
    [
        ("lake.db.t", "SELECT * FROM `lake`.`db`.`t`"),
        ("(SELECT (1) AS x -- one\n)", "SELECT * FROM (SELECT (1) AS x -- one\n\n)"),
        ("(VALUES (1), (2))", "SELECT * FROM (VALUES (1), (2)\n)"),
        ("((SELECT 1) UNION (SELECT 2))", "SELECT * FROM ((SELECT 1) UNION (SELECT 2)\n)"),
    ],
)
def test_a_table_and_a_query_are_written_to_files(source: str, query: str) -> None:
    text = f"COPY INTO '/out' FROM {source} FILE_FORMAT = (TYPE = CSV) OVERWRITE = TRUE"
    statement = parse_statement(text)
    assert statement == CopyIntoFiles(path="/out", query=query, file_format=CSV, is_overwrite=True)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (r"'a\tb\n\r'", "a\tb\n\r"),
        (r"'\\'", "\\"),
        (r"'\d+\.csv'", r"\d+\.csv"),
        (r"'it\'s'", "it's"),
        (r"""'say \"x\" ""y'""", r"""say \"x\" ""y"""),
        ('"it\'s"', "it's"),
        (r"r'\n'", r"\n"),
    ],
)
def test_a_backslash_stays_where_it_says_nothing(text: str, meant: str) -> None:
    statement = parse_statement(f"COPY INTO t FROM {text} FILE_FORMAT = (TYPE = CSV)")
    assert isinstance(statement, CopyIntoTable)
    assert statement.path == meant


@pytest.mark.parametrize(
    ("text", "near", "position"),
    [
        ("COPY INTO t FROM '/in'", "end of input", 22),
        ("COPY INTO t FROM (SELECT 1) FILE_FORMAT = (TYPE = CSV)", "'('", 17),
        ("COPY INTO t '/in' FILE_FORMAT = (TYPE = CSV)", "\"'/in'\"", 12),
        ("COPY INTO t () FROM '/in' FILE_FORMAT = (TYPE = CSV)", "')'", 13),
        ("COPY INTO t FROM x'00' FILE_FORMAT = (TYPE = CSV)", "\"x'00'\"", 17),
        ("COPY INTO t FROM '/in' FILE_FORMAT = ()", "')'", 38),
        ("COPY INTO t FROM '/in' FILE_FORMAT = (TYPE = CSV, type = CSV)", "'type'", 50),
        ("COPY INTO t FROM '/in' FILE_FORMAT = (NULL_IF = (1))", "'1'", 49),
        ("COPY INTO t FROM '/in' FILEFORMAT = CSV", "'FILEFORMAT'", 23),
        ("COPY INTO t FROM '/in' FILE_FORMAT = (TYPE = CSV) PURGE = TRUE", "'PURGE'", 50),
        ("COPY INTO t FROM '/in' FILE_FORMAT = (TYPE = CSV) FORCE = 1", "'1'", 58),
        (
            "COPY INTO t FROM '/in' FILE_FORMAT = (TYPE = CSV) FORCE = TRUE FORCE = TRUE",
            "'FORCE'",
            63,
        ),
        (
            "COPY INTO t FROM '/in' FILE_FORMAT = (TYPE = CSV) ON_ERROR = SKIP_FILE_10",
            "'SKIP_FILE_10'",
            61,
        ),
        ("COPY INTO '/out' FROM () FILE_FORMAT = (TYPE = CSV)", "')'", 23),
        (
            "COPY INTO '/out' FROM (INSERT INTO t VALUES (1)) FILE_FORMAT = (TYPE = CSV)",
            "'INSERT'",
            23,
        ),
        ("COPY INTO '/out' FROM t FILE_FORMAT = (TYPE = CSV) FORCE = TRUE", "'FORCE'", 51),
    ],
)
def test_what_is_no_copy_is_refused_where_it_goes_wrong(
    text: str, near: str, position: int
) -> None:
    with pytest.raises(ParseException) as caught:
        parse_statement(text)
    assert caught.value.getCondition() == "PARSE_SYNTAX_ERROR"
    assert f"near {near}. " in str(caught.value)
    assert f"(line 1, pos {position})" in str(caught.value)
