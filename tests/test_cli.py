"""The command line."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

import lakebed
from lakebed.cli import main


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """A warehouse with a table that a numbered commit went into and a consumer read."""
    catalog = lakebed.load_catalog(warehouse=tmp_path.as_uri())
    catalog.create_database("db")
    table = catalog.create_table("db.t", schema=lakebed.schema([("k", "INT")]))
    with table.writer(user="job", identifier=4) as writer:
        writer.append(pa.table({"k": pa.array([1], pa.int32())}))
    list(table.stream(consumer_id="mailer", until="latest"))
    catalog.create_table("db.lonely", schema=lakebed.schema([("k", "INT")]))
    return tmp_path


def ran(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(main, [str(each) for each in arguments])
    return result.exit_code, result.output


def test_streams_of_a_table_are_shown_by_path_and_by_name(lake: Path) -> None:
    for arguments in ((lake / "db.db" / "t",), ("db.t", "--warehouse", lake)):
        status, text = ran("streams", *arguments)
        assert status == 0
        out, inward = text.splitlines()[-2:]
        assert out.split()[:4] == ["out", "mailer", "1", "0"]
        assert inward.split()[:5] == ["in", "job", "1", "0", "4"]


def test_streams_are_told_to_programs_as_json_and_as_metrics(lake: Path) -> None:
    path = lake / "db.db" / "t"
    found = json.loads(ran("streams", path, "--format", "json")[1])
    assert [(each["direction"], each["name"]) for each in found] == [
        ("out", "mailer"),
        ("in", "job"),
    ]
    assert 'name="mailer"' in ran("streams", path, "--format", "prometheus")[1]


def test_a_table_without_streams_says_so(lake: Path) -> None:
    status, text = ran("streams", "db.lonely", "--warehouse", lake)
    assert status == 0
    assert "no consumers" in text


def test_what_is_not_there_and_what_is_no_option_are_errors_that_say_so(lake: Path) -> None:
    status, text = ran("streams", lake / "db.db" / "none")
    assert status == 1
    assert "none" in text
    status, text = ran("streams", lake / "db.db" / "t", "-o", "endpoint")
    assert status == 2
    assert "'endpoint' is no KEY=VALUE" in text
