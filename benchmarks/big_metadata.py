"""A table of a million files that has metadata alone: what planning reads, and nothing else.

Each bucket of each day was written once, then compacted: an ADD, a DELETE and an ADD again, so
three entries a live file, an ADD and its DELETE in different manifests. Most live files stand on
the top level side by side, `FRESH` of each bucket on level 0 across them. Days follow each other,
as in a table that has been written for years, so manifests are apart by partition and hold every
bucket.

The surprising thing: no entry is encoded. One is, with marks in it; the others are copies of its
bytes whose marks NumPy overwrites with numbers of the same encoded length.
"""

import hashlib
import json
import shutil
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.avro.codec import write_records
from lakebed.format.avro.container import encode_long, read_container, write_container
from lakebed.format.binary_row.codec import encode_rows
from lakebed.format.data_file_meta import DataFileMeta, FileKind, ManifestEntry, SimpleStats
from lakebed.format.manifest import MANIFEST_SCHEMA, ManifestFileMeta, entry_to_record
from lakebed.format.manifest_file import write_manifest_list
from lakebed.format.snapshot import CommitKind, Snapshot
from lakebed.format.types import AtomicType, TypeRoot
from lakebed.storage.local import LocalFileIO
from tools.peers.process import PeerProcess

BUCKETS = 16
DAYS = 256
GROUP_DAYS = 16
FRESH = 16
FIRST_DAY = 20_000
NUMBERS = 4
BLOCK_ENTRIES = 150
COLUMNS = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("day", pa.int32(), nullable=False),
        *(pa.field(f"number{i}", pa.int64()) for i in range(NUMBERS)),
        *(pa.field(f"text{i}", pa.string()) for i in range(2)),
    ]
)

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Files:
    """Files of one day, as columns."""

    name: Bytes
    bucket: Numbers
    size: Numbers
    low: Numbers
    level: Numbers
    bounds: Bytes


def big_table(writer: PeerProcess, directory: Path, *, live_files: int) -> Path:
    """The table, made when it is missing.

    Args:
        writer: Creates it.
        directory: Where it is kept.
        live_files: How many; rounded down to a multiple of `DAYS`.
    """
    table = directory / "warehouse" / "db.db" / f"planning_{live_files}"
    stamp = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    done = table.with_suffix(".done")
    if done.exists() and done.read_text(encoding="ascii") == stamp:
        return table
    done.unlink(missing_ok=True)
    shutil.rmtree(table, ignore_errors=True)
    writer.create(
        table,
        COLUMNS,
        primary_key=["day", "id"],
        partition_by=["day"],
        options={"bucket": str(BUCKETS), "write-only": "true"},
    )
    metas = [
        _write_manifest(table, number, manifest)
        for number, manifest in enumerate(_manifests(live_files // DAYS))
    ]
    _commit(table, metas, live_files=live_files)
    done.write_text(stamp, encoding="ascii")
    return table


def _manifests(day_files: int) -> Iterator["_Manifest"]:
    """Days in groups: a manifest of what was written, then one of what compaction made of it."""
    template = _Template.make()
    for first in range(0, DAYS, GROUP_DAYS):
        days = range(FIRST_DAY + first, FIRST_DAY + first + GROUP_DAYS)
        written = {day: _files(day, day_files, seed=0) for day in days}
        compacted = {day: _files(day, day_files, seed=1) for day in days}
        old = [template.entries(files, FileKind.ADD, day) for day, files in written.items()]
        gone = [template.entries(files, FileKind.DELETE, day) for day, files in written.items()]
        new = [template.entries(files, FileKind.ADD, day) for day, files in compacted.items()]
        count = GROUP_DAYS * day_files
        yield _Manifest(entries=np.concatenate(old), days=days, added=count)
        yield _Manifest(entries=np.concatenate([*gone, *new]), days=days, added=count)


def _files(day: int, count: int, *, seed: int) -> _Files:
    """The files of a day, bucket by bucket in key order; the first of each bucket are fresh."""
    random = np.random.default_rng([day, seed])
    index = np.arange(count)
    hexadecimal = np.frombuffer(b"0123456789abcdef", np.uint8)
    return _Files(
        name=hexadecimal[random.integers(0, 16, (count, 32))],
        bucket=index % BUCKETS,
        size=random.integers(1 << 20, 1 << 26, count),
        low=index // BUCKETS * 1000,
        level=np.where(index // BUCKETS < FRESH, 0, 5),
        bounds=random.integers(0, 256, (count, 2 * NUMBERS, 4), dtype=np.uint8),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Manifest:
    """Encoded entries, their days, and how many of them are ADDs."""

    entries: Bytes
    days: range
    added: int


@dataclass(frozen=True, slots=True)
class _Template:
    """The bytes of one entry and where its marks are."""

    record: Bytes

    _NAME = "0123456789abcdef" * 2
    _SIZE, _PARTITION, _LOW, _HIGH = 0x2BCDEF1, 0x1234567, 0x1122334455667788, 0x1122334455667799
    _BOUND = 0x7B7B7B00
    _KIND_AT, _BUCKET, _LEVEL = 1, 37, 41

    @classmethod
    def make(cls) -> "_Template":
        """Encodes the one entry."""
        bigint, integer, text = (
            AtomicType(root=root, length=length)
            for root, length in (
                (TypeRoot.BIGINT, None),
                (TypeRoot.INT, None),
                (TypeRoot.VARCHAR, 100),
            )
        )
        partition = _row([pa.array([cls._PARTITION], pa.int32())], [integer])
        low, high = (_row([pa.array([key])], [bigint]) for key in (cls._LOW, cls._HIGH))
        types = [bigint, integer, *[bigint] * NUMBERS, *[text] * 2]
        least, most = (
            _row(
                [
                    pa.array([7]),
                    pa.array([7], pa.int32()),
                    *(pa.array([cls._BOUND + side * NUMBERS + i]) for i in range(NUMBERS)),
                    *[pa.array(["sixteen letters"])] * 2,
                ],
                types,
            )
            for side in range(2)
        )
        file = DataFileMeta(
            file_name=f"data-{cls._NAME}-0.parquet",
            file_size=cls._SIZE,
            row_count=10_000,
            min_key=low,
            max_key=high,
            key_stats=SimpleStats(min_values=low, max_values=high, null_counts=(0,)),
            value_stats=SimpleStats(min_values=least, max_values=most, null_counts=(0,) * 8),
            min_sequence_number=1 << 34,
            max_sequence_number=(1 << 34) + 9_999,
            schema_id=0,
            level=cls._LEVEL,
            creation_time=1_795_254_850_200,
            delete_row_count=0,
            file_source=0,
        )
        entry = ManifestEntry(
            kind=FileKind.ADD,
            partition=partition,
            bucket=cls._BUCKET,
            total_buckets=BUCKETS,
            file=file,
        )
        data = write_records(MANIFEST_SCHEMA, [entry_to_record(entry)])
        return cls(np.frombuffer(read_container(data, "template").blocks[0], np.uint8))

    def entries(self, files: _Files, kind: FileKind, partition: int) -> Bytes:
        """An entry of each file."""
        count = len(files.size)
        entries = np.tile(self.record, (count, 1))
        entries[:, self._KIND_AT] = 2 * kind
        self._fill(entries, self._NAME.encode(), files.name)
        self._fill(entries, encode_long(self._SIZE), _varints(files.size))
        self._fill(
            entries,
            struct.pack("<q", self._PARTITION),
            np.frombuffer(struct.pack("<q", partition), np.uint8),
        )
        width = np.where(files.level == 0, 50_000, 999)
        for mark, keys in ((self._LOW, files.low), (self._HIGH, files.low + width)):
            filling = keys.astype("<i8").view(np.uint8).reshape(count, 8)
            self._fill(entries, struct.pack("<q", mark), filling)
        for i in range(2 * NUMBERS):
            self._fill(entries, struct.pack("<I", self._BOUND + i), files.bounds[:, i])
        # Of two equal bytes the bucket is the first, the level is after the schema id.
        self._fill(entries, encode_long(self._BUCKET), _varints(files.bucket, length=1))
        level = bytes([0]) + encode_long(self._LEVEL)
        pairs = np.column_stack([np.zeros(count, np.uint8), _varints(files.level, length=1)])
        self._fill(entries, level, pairs)
        return entries

    def _fill(self, entries: Bytes, mark: bytes, filling: Bytes) -> None:
        record, start = self.record.tobytes(), 0
        if mark == encode_long(self._BUCKET):
            places = [record.index(mark)]
        else:
            places = []
            while (start := record.find(mark, start)) >= 0:
                places.append(start)
                start += len(mark)
        for place in places:
            entries[:, place : place + len(mark)] = filling


def _row(columns: list[pa.Array], types: list[AtomicType]) -> bytes:
    row: bytes = encode_rows(columns, types)[0].as_py()
    return row


def _varints(values: Numbers, length: int = 4) -> Bytes:
    zigzag = values << 1
    digits = np.stack([(zigzag >> (7 * i)) & 0x7F for i in range(length)], axis=1)
    digits[:, :-1] |= 0x80
    return digits.astype(np.uint8)


def _write_manifest(table: Path, number: int, manifest: _Manifest) -> ManifestFileMeta:
    entries, days = manifest.entries, manifest.days
    blocks = (
        (len(part), part.tobytes())
        for part in np.array_split(entries, -(-len(entries) // BLOCK_ENTRIES))
    )
    schema = json.dumps(MANIFEST_SCHEMA, separators=(",", ":"))
    data = write_container(schema, blocks, compression="zstd", level=1)
    name = f"manifest-00000000-0000-0000-0000-000000000000-{number}"
    (table / "manifest").mkdir(exist_ok=True)
    (table / "manifest" / name).write_bytes(data)
    integer = AtomicType(root=TypeRoot.INT)
    low, high = (_row([pa.array([day], pa.int32())], [integer]) for day in (days[0], days[-1]))
    return ManifestFileMeta(
        file_name=name,
        file_size=len(data),
        num_added_files=manifest.added,
        num_deleted_files=len(entries) - manifest.added,
        partition_stats=SimpleStats(min_values=low, max_values=high, null_counts=(0,)),
        schema_id=0,
        min_bucket=0,
        max_bucket=BUCKETS - 1,
        min_level=0,
        max_level=5,
    )


def _commit(table: Path, metas: list[ManifestFileMeta], *, live_files: int) -> None:
    names = [f"manifest-list-00000000-0000-0000-0000-000000000000-{i}" for i in range(2)]
    for name, listed in zip(names, (metas, []), strict=True):
        write_manifest_list(LocalFileIO(), str(table / "manifest" / name), listed)
    snapshot = Snapshot(
        id=1,
        schema_id=0,
        base_manifest_list=names[0],
        delta_manifest_list=names[1],
        commit_user="benchmark",
        commit_identifier=1,
        commit_kind=CommitKind.COMPACT,
        time_millis=1_795_254_850_200,
        total_record_count=live_files * 10_000,
        delta_record_count=0,
    )
    (table / "snapshot").mkdir(exist_ok=True)
    (table / "snapshot" / "snapshot-1").write_bytes(snapshot.to_json())
