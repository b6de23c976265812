"""Files that another writer left in a staging directory, adopted or refused; no session needed."""

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakebed
from lakebed import Table
from lakebed.errors import InvalidDataError, LakebedError, StorageError
from lakebed.format.data_file_meta import FileSource
from lakebed.spark.adoption import Staging, adopt
from lakebed.table.writing.commit_message import CommitMessage

ALL = 1 << 30


def make(directory: Path, *columns: tuple[str, str]) -> Table:
    catalog = lakebed.load_catalog(warehouse=directory.as_uri())
    catalog.create_database("db")
    return catalog.create_table("db.t", schema=lakebed.schema(columns))


def adopted(
    table: Table, *files: pa.Table, counts: bool = True, int96: bool = False
) -> list[CommitMessage]:
    """What is committed when another writer left these files."""
    parts = table.parts()
    with Staging.of(parts) as staging:
        directory = Path(str(parts.file_io.local_path(staging.directory)))
        directory.mkdir()
        for number, rows in enumerate(files):
            path = directory / f"{number}.parquet"
            pq.write_table(
                rows, path, write_statistics=counts, use_deprecated_int96_timestamps=int96
            )
        return adopt(parts, staging.groups(ALL)[0])


def left(directory: Path) -> list[str]:
    return [path.name for path in directory.rglob("*.parquet")]


def test_files_of_a_partition_are_numbered_one_after_another(tmp_path: Path) -> None:
    table = make(tmp_path, ("id", "BIGINT"))
    files = [pa.table({"id": pa.array(range(count), pa.int64())}) for count in (3, 0, 4)]
    (message,) = adopted(table, *files)
    numbers = [(file.min_sequence_number, file.max_sequence_number) for file in message.new_files]
    assert numbers == [(0, 2), (3, 6)]
    assert {file.file_source for file in message.new_files} == {FileSource.APPEND}
    assert sorted(left(tmp_path)) == sorted(file.file_name for file in message.new_files)


def test_a_null_is_found_where_the_footer_counts_none(tmp_path: Path) -> None:
    table = make(tmp_path, ("id", "BIGINT"), ("name", "STRING NOT NULL"))
    rows = pa.table({"id": pa.array([1, 2], pa.int64()), "name": ["a", None]})
    with pytest.raises(InvalidDataError, match="'name' is NOT NULL, but 1 of the rows"):
        adopted(table, rows, counts=False)
    assert left(tmp_path) == []


def test_instants_of_96_bits_are_refused(tmp_path: Path) -> None:
    table = make(tmp_path, ("at", "TIMESTAMP(6) WITH LOCAL TIME ZONE"))
    at = pa.array(
        [dt.datetime.fromisoformat("2024-01-01T00:00:00+00:00")], pa.timestamp("us", "UTC")
    )
    with pytest.raises(LakebedError, match="outputTimestampType was changed"):
        adopted(table, pa.table({"at": at}), int96=True)
    assert left(tmp_path) == []


def test_a_file_that_cannot_be_moved_takes_the_others_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make(tmp_path, ("id", "BIGINT"))
    rename = Path.rename

    def fails_for_the_last(path: Path, target: str) -> Path:
        if path.name == "2.parquet":
            raise OSError(28, "No space left on device")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fails_for_the_last)
    rows = pa.table({"id": pa.array([1], pa.int64())})
    with pytest.raises(StorageError, match=r"cannot be moved to .*No space left"):
        adopted(table, rows, rows, rows)
    assert left(tmp_path) == []
