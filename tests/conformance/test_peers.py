"""Lakebed and its peers on one table: each reads what the other wrote, and writes on."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

import lakebed
from conformance.cases import CASES, Case, Row
from tools.peers.environments import ENVIRONMENTS
from tools.peers.paimon_spark import PaimonSpark
from tools.peers.process import JsonProcess, PeerProcess, read_ipc, write_ipc

SPARK_SETTINGS = {
    "spark.master": "local[2]",
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}

pytestmark = pytest.mark.peers


@pytest.fixture(scope="module", params=ENVIRONMENTS)
def peer(request: pytest.FixtureRequest) -> Iterator[JsonProcess]:
    is_spark = request.param == "paimon-spark"
    with PaimonSpark(SPARK_SETTINGS) if is_spark else PeerProcess(request.param) as process:
        yield process


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_peer_and_lakebed_take_turns_on_one_table(
    case: Case, peer: JsonProcess, tmp_path: Path
) -> None:
    table = case.write(tmp_path)
    assert _read_by_peer(peer, table, case) == _shown(case, case.expected())

    data = write_ipc(case.arrow(case.theirs), tmp_path / "theirs.arrow")
    peer.ask("write", table=str(table), data=str(data))
    assert _read_by_lakebed(table, case) == _shown(case, case.expected(case.theirs))

    lakebed.load_table(str(table)).append(case.arrow(case.ours_again))
    rows = case.expected(case.theirs, case.ours_again)
    assert _read_by_peer(peer, table, case) == _shown(case, rows)
    assert _read_by_lakebed(table, case) == _shown(case, rows)


def _read_by_peer(peer: JsonProcess, table: Path, case: Case) -> list[str]:
    out = table.with_suffix(".out.arrow")
    peer.ask("read", table=str(table), out=str(out))
    return _sorted(read_ipc(out), case)


def _read_by_lakebed(table: Path, case: Case) -> list[str]:
    return _sorted(lakebed.load_table(str(table)).scan().to_arrow(), case)


def _shown(case: Case, rows: Sequence[Row]) -> list[str]:
    return _sorted(case.arrow(rows), case)


def _sorted(rows: pa.Table, case: Case) -> list[str]:
    """Rows as sorted text, after a lossless cast to the case's Arrow types."""
    return sorted(repr(row) for row in rows.select(case.schema.names).cast(case.schema).to_pylist())
