"""How the table of statements is read, compared and written."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from statements.running import masking
from statements.table import UNTOLD, Page, Statement, lines_of, read_page

PAGE = """\
# A page.

# Why it is here.
scenario one
CREATE TABLE t (k INT);
INSERT INTO t VALUES (1);
----

recorded
SELECT * FROM t
----
k
1

recorded
SELECT x FROM t
----
error OURS, by the connector THEIRS

# A comment.
recorded
SHOW t
----
key
1
==== it is shorter
key

derived python newer
spark.table("t")
----
????
"""


@pytest.fixture
def page(tmp_path: Path) -> Page:
    path = tmp_path / "page.txt"
    path.write_text(PAGE, encoding="utf-8")
    return read_page(path)


def named(page: Page, number: int) -> Statement:
    return page.scenarios[0].statements[number - 1]


def test_a_page_is_written_as_it_was_read(page: Page) -> None:
    page.write()
    assert page.path.read_text(encoding="utf-8") == PAGE


def test_a_scenario_knows_its_set_up_and_its_statements(page: Page) -> None:
    scenario = page.scenarios[0]
    assert scenario.setup == ["CREATE TABLE t (k INT)", "INSERT INTO t VALUES (1)"]
    assert [each.name for each in scenario.statements] == [f"page.one.{n}" for n in range(1, 5)]
    assert [each.origin for each in scenario.statements] == [*["recorded"] * 3, "derived"]
    assert [each.is_python for each in scenario.statements] == [False, False, False, True]


def test_what_is_expected_is_the_connectors_answer_unless_ours_is_another(page: Page) -> None:
    assert named(page, 1).expected == ("k", "1")
    assert named(page, 2).expected == ("error OURS",)
    assert named(page, 3).expected == ("key",)
    assert named(page, 3).own_reason == "it is shorter"


def test_a_new_recording_keeps_what_is_ours(page: Page) -> None:
    assert named(page, 2).with_connectors(("error NEWER",)).case.expected == (
        "error OURS, by the connector NEWER",
    )
    assert named(page, 2).with_connectors(("error OURS",)).case.expected == ("error OURS",)
    assert named(page, 2).with_connectors(("x",)).case.expected == ("x",)
    assert named(page, 3).with_connectors(("key", "2")).case.expected[-2:] == (
        "==== it is shorter",
        "key",
    )


def test_only_an_answer_that_nobody_told_is_filled_in(page: Page) -> None:
    assert named(page, 1).with_own(("other",)) == named(page, 1)
    assert named(page, 4).case.expected == UNTOLD
    assert named(page, 4).with_own(("k", "1")).expected == ("k", "1")
    new = named(page, 4).with_connectors(("error THEIRS",))
    assert new.with_own(("error OURS",)).case.expected == ("error OURS, by the connector THEIRS",)
    assert new.with_own(("error THEIRS",)).case.expected == ("error THEIRS",)
    assert new.with_own(("k", "1")) == new, "an error is no answer"


def test_rows_are_sorted_unless_the_statement_orders_them() -> None:
    answer = {"columns": ["k", "v"], "rows": [["2", "b"], ["1", ""]]}
    assert lines_of(answer, text="SELECT * FROM t") == ("k | v", "1 |", "2 | b")
    assert lines_of(answer, text="SELECT * FROM t ORDER BY v") == ("k | v", "2 | b", "1 |")
    assert lines_of({"columns": [], "rows": []}, text="DROP TABLE t") == ()
    assert lines_of({"error": "BAD", "message": "m"}, text="x") == ("error BAD",)


def test_places_moments_sizes_and_random_names_are_masked() -> None:
    mask = masking("db_x", Path("/tmp/w"))
    now = datetime.now(UTC)
    line = f"file:/tmp/w/db_x.db at {now:%Y-%m-%d %H:%M:%S.%f}, {int(now.timestamp() * 1000)}"
    assert mask(line) == "$warehouse/$db.db at <now>, <now>"
    assert mask("0a1b2c3d-0000-1111-2222-333344445555") == "<uuid>"
    assert mask("fileSizeInBytes=400, 1 rows, 400 bytes") == (
        "fileSizeInBytes=<size>, 1 rows, <size> bytes"
    )
    assert mask("2019-02-03 04:05:06, 32472144000000, 1678883047356") == (
        "2019-02-03 04:05:06, 32472144000000, 1678883047356"
    )
