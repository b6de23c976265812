"""Changelogs that Flink packs into one file (`precommit-compact`), read by Lakebed."""

from pathlib import Path

import pytest

import lakebed
from lakebed.format.packed_changelog import packed_changelog_of
from tools.peers.flink import Flink

pytestmark = pytest.mark.peers

_TABLE = """
CREATE TABLE lake.db.{name} (
  id INT, p STRING, v STRING, PRIMARY KEY (id, p) NOT ENFORCED
) PARTITIONED BY (p) WITH (
  'bucket' = '4', 'changelog-producer' = 'input', 'precommit-compact' = 'true',
  'changelog-file.format' = '{name}'
)
"""
_VERSIONS = ("a", "b")
_FORMATS = ("parquet", "avro", "orc")


def rows_of(version: str) -> list[tuple[int, str, str]]:
    return [(number, f"p{number % 2}", f"{version}{number}") for number in range(40)]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("flink")
    flink = Flink(path)
    try:
        flink.ask("CREATE DATABASE lake.db")
        for name in _FORMATS:
            flink.ask(_TABLE.format(name=name))
            for version in _VERSIONS:
                values = ", ".join(map(str, rows_of(version)))
                flink.ask(f"INSERT INTO lake.db.{name} VALUES {values}")
    finally:
        flink.close()
    return path


@pytest.mark.parametrize("name", _FORMATS)
def test_packed_changelogs_of_flink_are_told_row_by_row(name: str, warehouse: Path) -> None:
    table = f"{warehouse}/db.db/{name}"
    newest = lakebed.load_table(table).latest_snapshot()
    assert newest is not None
    scan = lakebed.load_table(f"{table}$audit_log").scan(
        incremental=(0, newest.id), incremental_mode="changelog"
    )
    paths = [path for split in scan.plan().splits for path in split.file_paths]
    parts = [packed_changelog_of(path) for path in paths]
    assert any(part is not None and part.offset > 0 for part in parts)
    told = [(row["id"], row["p"], row["v"]) for row in scan.to_arrow().to_pylist()]
    assert sorted(told) == sorted(row for version in _VERSIONS for row in rows_of(version))
