"""How fast does a writer of dynamic buckets start? 10 M known keys, 1 M new ones, a fresh process.

The figures are of the assignment alone: reading the hash indexes, finding all new keys in none of
them, giving each a bucket, and writing the indexes that changed. Data files are another matter.
"""

import json
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.datasets import CACHE
from benchmarks.harness import Contender, Effort, Outcome, Target, alternate
from benchmarks.peak import peak_mb
from lakebed.format.binary_row.codec import EMPTY_ROW
from lakebed.format.index_manifest import IndexManifestEntry, index_entries_to_columns
from lakebed.format.paths import FileNames, TablePaths
from lakebed.format.schema import TableSchema
from lakebed.format.schema_builder import build_schema
from lakebed.format.schema_definition import schema
from lakebed.options.table_options import TableOptions
from lakebed.storage.local import LocalFileIO
from lakebed.table.metadata.index_paths import IndexPaths
from lakebed.table.writing.bucket_room import BucketGrowth
from lakebed.table.writing.dynamic_buckets import DynamicBuckets, HashIndexes

KNOWN = 10
BATCH_ROWS = 65_536
SECONDS_MAX = 10.0
MB_MAX = 1024.0


def run(effort: Effort) -> list[Outcome]:
    """Seconds of the assignment, and the peak of the whole process."""
    location = CACHE / "dynamic_bucket" / str(effort.run_rows)
    if not (location / "entries.json").exists():
        shutil.rmtree(location, ignore_errors=True)
        _make(location, rows=effort.run_rows)
    peaks: list[float] = []

    def seconds() -> float:
        command = [sys.executable, "-m", "benchmarks.dynamic_bucket", str(location)]
        told = subprocess.run(
            [*command, str(effort.run_rows)], check=True, capture_output=True, text=True
        )
        figures: dict[str, float] = json.loads(told.stdout)
        peaks.append(figures["peak_mb"])
        return figures["seconds"]

    figures = alternate([Contender(name="lakebed", measure=seconds)], effort=effort)
    return [
        Outcome(
            name="dynamic buckets: index of 10 commits' keys, one commit's new keys",
            figures=figures,
            targets=(Target(of=None, at_most=SECONDS_MAX),),
        ),
        Outcome(
            name="its process at its peak",
            figures={"lakebed": peaks},
            unit="MB",
            targets=(Target(of=None, at_most=MB_MAX),),
        ),
    ]


def _router(location: Path, stored: list[IndexManifestEntry]) -> DynamicBuckets:
    return DynamicBuckets(
        table_schema=_schema(),
        growth=BucketGrowth.of(TableOptions.parse({}, has_primary_key=True)),
        indexes=HashIndexes.of(
            index_entries_to_columns(stored),
            file_io=LocalFileIO(),
            paths=IndexPaths(TablePaths(str(location))),
            names=FileNames(lambda: str(uuid.uuid4())),
        ),
    )


def _schema() -> TableSchema:
    fields = schema([("id", "BIGINT NOT NULL"), ("v", "INT")]).fields
    return build_schema(fields, primary_keys=["id"], options={"bucket": "-1"}, time_millis=0)


def _assign(router: DynamicBuckets, *, first: int, count: int) -> list[IndexManifestEntry]:
    """Routes keys that are far apart and in no order; the index files that it made."""
    keys = np.arange(first, first + count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    values = np.zeros(count, np.int32)
    for start in range(0, count, BATCH_ROWS):
        part = slice(start, start + BATCH_ROWS)
        ids = keys[part].view(np.int64)
        rows = pa.table({"id": pa.array(ids), "v": pa.array(values[part])})
        for routed in router.route(rows, None):
            assert routed.partition == EMPTY_ROW
    return [entry for message in router.finish() for entry in message.new_index_files]


def _make(location: Path, *, rows: int) -> None:
    entries = _assign(_router(location, []), first=0, count=KNOWN * rows)
    told = [[entry.bucket, entry.file_name, entry.file_size, entry.row_count] for entry in entries]
    (location / "entries.json").write_text(json.dumps(told), encoding="utf-8")


def _stored(location: Path) -> list[IndexManifestEntry]:
    told = json.loads((location / "entries.json").read_text(encoding="utf-8"))
    return [
        IndexManifestEntry(
            partition=EMPTY_ROW,
            bucket=bucket,
            index_type="HASH",
            file_name=name,
            file_size=size,
            row_count=count,
        )
        for bucket, name, size, count in told
    ]


def main() -> None:
    """Measures once, in this process."""
    location, rows = Path(sys.argv[1]), int(sys.argv[2])
    stored = _stored(location)
    router = _router(location, stored)
    started = time.perf_counter()
    made = _assign(router, first=KNOWN * rows, count=rows)
    took = time.perf_counter() - started
    for entry in made:
        (location / "index" / entry.file_name).unlink()
    sys.stdout.write(json.dumps({"seconds": took, "peak_mb": peak_mb()}))


if __name__ == "__main__":
    main()
