"""The golden tables through other readers: the real Paimon 1.4.2 in a JVM, and pypaimon-rust.

The answers are those of Paimon 2.1. That Lakebed gives them is tested elsewhere; here is tested who
else does. Each question on which one of them does not is listed, with the reason, and stays so:
a listed difference that is gone is a failure too.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.encoding import sort_maps
from conformance.golden_differences import DIFFERENCES
from golden_adapter import plain
from support.golden_answers import EXPECTED, GoldenQuery, golden_queries, parse_type
from tools.peers.process import PeerError, PeerProcess, read_ipc
from tools.peers.referee import Referee

pytestmark = pytest.mark.peers

DATABASE = EXPECTED.parent / "warehouse" / "db.db"
TABLES = sorted(path.stem for path in EXPECTED.glob("*.json"))

Reader = Callable[[GoldenQuery], str | None]


@pytest.fixture(scope="module")
def java() -> Iterator[Reader]:
    referee = Referee()
    yield lambda query: _ask_java(referee, query)
    referee.close()


@pytest.fixture(scope="module")
def rust(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    out = tmp_path_factory.mktemp("rust") / "rows.arrow"
    with PeerProcess("pypaimon-rust") as process:
        yield lambda query: _ask_rust(process, query, out)


@pytest.mark.parametrize("table", TABLES)
def test_java_1_4_2_gives_the_golden_answers_but_for_known_ones(table: str, java: Reader) -> None:
    _compare("java", java, [query for query in golden_queries(table) if _is_for_java(query)])


@pytest.mark.parametrize("table", TABLES)
def test_rust_gives_the_golden_answers_but_for_known_ones(table: str, rust: Reader) -> None:
    _compare(
        "pypaimon-rust", rust, [query for query in golden_queries(table) if _is_for_rust(query)]
    )


def _compare(name: str, reader: Reader, queries: list[GoldenQuery]) -> None:
    differing = _differing(queries, reader)
    known = {
        question: difference.gist
        for difference in DIFFERENCES
        for question in difference.questions
        if difference.reader == name and difference.table in {query.table for query in queries}
    }
    assert set(differing) == set(known), differing
    assert all(known[question] in told for question, told in differing.items()), differing


def _differing(queries: list[GoldenQuery], reader: Reader) -> dict[str, str]:
    """How the answers differ, by question."""
    differing = {}
    for query in queries:
        try:
            difference = reader(query)
        except PeerError as error:
            difference = str(error)
        if difference is not None:
            differing[query.id] = difference
    return differing


def _is_for_java(query: GoldenQuery) -> bool:
    """Predicates are Spark's, and the other system tables of 1.4.2 have other columns."""
    system = query.args.get("system_table") or "branch_"
    is_of_rows = system.startswith(("audit_log", "branch_")) and "$" not in system
    return is_of_rows and query.args.get("filter_sql") is None


def _is_for_rust(query: GoldenQuery) -> bool:
    """It builds no increments, and gives a variant as the bytes that stand in the file."""
    system = query.args.get("system_table") or "branch_"
    has_variant = any(kind == "variant" for _, kind in query.columns)
    return (
        _is_for_java(query)
        and system.startswith("branch_")
        and query.args.get("incremental") is None
        and not has_variant
    )


def _locate(query: GoldenQuery) -> Path:
    system = query.args.get("system_table")
    return DATABASE / (f"{query.table}${system}" if system else query.table)


def _options(query: GoldenQuery) -> dict[str, str]:
    """The options of a scan that mean what the question asks."""
    options: dict[str, Any] = {
        "scan.snapshot-id": query.args.get("snapshot"),
        "scan.tag-name": query.args.get("tag"),
    }
    if incremental := query.args.get("incremental"):
        options["incremental-between"] = f"{incremental['start']},{incremental['end']}"
        options["incremental-between-scan-mode"] = incremental.get("mode")
    return {key: str(value) for key, value in options.items() if value is not None}


def _ask_java(referee: Referee, query: GoldenQuery) -> str | None:
    answer = referee.read(
        _locate(query), columns=query.args.get("columns"), options=_options(query)
    )
    assert [name for name, _ in answer.columns] == [name for name, _ in query.columns]
    types = [parse_type(kind) for _, kind in query.columns]
    rows = ([sort_maps(v, t) for v, t in zip(row, types, strict=True)] for row in answer.rows)
    return query.difference_of_encoded(rows)


def _ask_rust(process: PeerProcess, query: GoldenQuery, out: Path) -> str | None:
    process.ask(
        "read",
        table=str(_locate(query)),
        columns=query.args.get("columns"),
        options=_options(query),
        out=str(out),
    )
    return query.difference(plain(read_ipc(out)).to_pylist())
