"""Tables that Lakebed sorts, as the real Paimon 1.4.2 reads them, follows them and goes on."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lakebed
from lakebed.table.compaction.sort_order import OrderStrategy
from tools.peers.referee import Referee

pytestmark = pytest.mark.peers

COLUMNS = [("a", "INT"), ("b", "INT"), ("s", "STRING"), ("p", "STRING")]
NAMES = [name for name, _ in COLUMNS]
ROW_COUNT = 300


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    referee = Referee()
    yield referee
    referee.close()


def drawn(seed: int) -> list[list[Any]]:
    numbers = np.random.default_rng(seed).integers(0, 50, (3, ROW_COUNT)).tolist()
    return [
        [None if a == 49 else a, b, f"s{c}", f"p{c % 2}"] for a, b, c in zip(*numbers, strict=True)
    ]


def sorted_rows(rows: list[list[Any]]) -> list[list[Any]]:
    return sorted(rows, key=str)


@pytest.mark.parametrize(
    ("strategy", "file_format", "options"),
    [
        ("order", "parquet", {}),
        ("zorder", "orc", {}),
        ("hilbert", "avro", {}),
        ("zorder", "parquet", {"deletion-vectors.enabled": "true"}),
    ],
)
def test_the_real_engine_reads_what_was_sorted_and_writes_and_compacts_on(
    strategy: OrderStrategy,
    file_format: str,
    options: dict[str, str],
    *,
    referee: Referee,
    tmp_path: Path,
) -> None:
    path = tmp_path / "db.db" / "t"
    catalog = lakebed.load_catalog(warehouse=str(tmp_path))
    catalog.create_database("db")
    small = {"target-file-row-num": "100", "file.format": file_format, "write-only": "true"}
    table = catalog.create_table(
        "db.t", schema=lakebed.schema(COLUMNS), partition_by=["p"], options=small | options
    )
    expected = [*drawn(1), *drawn(2)]
    columns = zip(*drawn(1), strict=True)
    table.append(pa.table(dict(zip(NAMES, map(list, columns), strict=True))))
    referee.write(path, [["+I", *row] for row in drawn(2)])
    table.delete("b = 7")
    expected = sorted_rows([row for row in expected if row[1] != 7])
    before = table.latest_snapshot()
    assert before is not None
    for _ in range(2):
        snapshot = table.compact(order_strategy=strategy, order_by="a,b")
        assert snapshot is not None
        assert sorted_rows(referee.read(path).rows) == expected
    told = referee.read(path.with_name("t$snapshots"), columns=["snapshot_id", "commit_kind"])
    assert told.rows[-2:] == [[before.id + n, "COMPACT"] for n in (1, 2)]
    assert told.rows[-3][1] != "COMPACT"
    followed = {"incremental-between": f"{before.id},{before.id + 2}"}
    assert referee.read(path, options=followed).rows == []
    found = referee.read(path, where=[("b", "=", 11), ("p", "=", "p0")])
    assert sorted_rows(found.rows) == [row for row in expected if row[1] == 11 and row[3] == "p0"]
    referee.write(path, [["+I", *row] for row in drawn(3)])
    referee.compact(path, full=True)
    expected = sorted_rows([*expected, *drawn(3)])
    assert sorted_rows(referee.read(path).rows) == expected
    rows = lakebed.load_table(str(path)).scan().to_arrow()
    assert sorted_rows([list(row.values()) for row in rows.to_pylist()]) == expected
