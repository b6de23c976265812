"""The algebra of manifest entries: what is live, and what may be committed (format.md 7, 16).

Pure, over the Arrow columns of `format.manifest.ENTRY_COLUMNS`; no object an entry.

An entry's identity is (partition, bucket, level, file name) and what index the file has. An ADD is
live until a DELETE of its identity; a file that rises to another level, or gets another index, is a
DELETE and an ADD of one file under two identities.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import CommitConflictError, CorruptTableError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowChunks, python_values
from lakebed.format.data_file_meta import FileKind, ManifestEntry

Identity = tuple[bytes, int, int, str, tuple[str, ...], bytes | None]

_CODES_MAX = 1 << 62


def identity(entry: ManifestEntry) -> Identity:
    """What makes two entries speak of the same file at the same place."""
    file = entry.file
    place = entry.partition, entry.bucket, file.level
    return *place, file.file_name, file.extra_files, file.embedded_file_index


def live_entries(entries: pa.Table, *, source: str) -> pa.Table:
    """The ADD entries that no DELETE took back, in the order given.

    Args:
        entries: Entries of whole manifests, in any order.
        source: Where they come from, for the error.

    Raises:
        CorruptTableError: A file is added twice.
    """
    remaining = net_entries(entries, source=source)
    kinds = remaining.column("kind").to_numpy()
    return remaining if (kinds == FileKind.ADD).all() else remaining.filter(kinds == FileKind.ADD)


def net_entries(entries: pa.Table, *, source: str) -> pa.Table:
    """The entries left when each DELETE has met its ADD; one whose partner is elsewhere stays.

    Args:
        entries: Entries of some manifests, in any order.
        source: Where they come from, for the error.

    Raises:
        CorruptTableError: A file is added twice.
    """
    kinds = entries.column("kind").to_numpy()
    signs = np.where(kinds == FileKind.ADD, 1, -1)
    if (signs == 1).all() and _are_distinct(entries.column("file_name")):
        return entries
    _, group = np.unique(_identity_codes(entries), return_inverse=True)
    balance = np.bincount(group, weights=signs).astype(np.int64)
    if (np.abs(balance) > 1).any():
        position = int(np.flatnonzero(np.abs(balance)[group] > 1)[0])
        name = entries.column("file_name")[position].as_py()
        raise CorruptTableError(source, f"data file {name} is added or deleted twice")
    candidates = np.flatnonzero(signs == balance[group])
    # Added again after a DELETE: several rows say the same, of which the last one counts.
    _, last = np.unique(group[candidates][::-1], return_index=True)
    kept = np.sort(candidates[len(candidates) - 1 - last])
    return entries.take(kept)


def live_identities(live: pa.Table) -> set[Identity]:
    """Identities of live files."""
    partitions, buckets, levels, names, extra, indexes = (
        python_values(live.column(name))
        for name in (
            "partition",
            "bucket",
            "level",
            "file_name",
            "extra_files",
            "embedded_file_index",
        )
    )
    return set(zip(partitions, buckets, levels, names, map(tuple, extra), indexes, strict=True))


def _are_distinct(column: ArrowChunks) -> bool:
    distinct: int = pc.count_distinct(column).as_py()
    return distinct == len(column)


def _identity_codes(entries: pa.Table) -> npt.NDArray[np.int64]:
    places = [entries.column(name) for name in ("partition", "bucket", "level")]
    indexes = [
        pc.binary_join(entries.column("extra_files"), "\0"),
        pc.fill_null(entries.column("embedded_file_index"), b""),
    ]
    codes = _dictionary_codes(entries.column("file_name"))
    for column in (*places, *indexes):
        other = _dictionary_codes(column)
        count = int(other.max(initial=0)) + 1
        if int(codes.max(initial=0)) + 1 > _CODES_MAX // count:
            _, codes = np.unique(codes, return_inverse=True)
        codes = codes * count + other
    return codes


def _dictionary_codes(column: ArrowChunks) -> npt.NDArray[np.int64]:
    encoded = pc.dictionary_encode(column).unify_dictionaries()
    return np.concatenate(
        [chunk.indices.to_numpy() for chunk in encoded.chunks] or [np.empty(0, np.int64)]
    ).astype(np.int64)


def check_deletes_live(changes: Iterable[ManifestEntry], live: set[Identity], *, base: int) -> None:
    """Every file that a commit deletes must still be live.

    Args:
        changes: Entries of the commit.
        live: Identities of the live files of the partitions concerned at snapshot `base`.
        base: Snapshot id, for the message.

    Raises:
        CommitConflictError: A file to delete is gone, or a file to add is there already.
    """
    for entry in changes:
        is_live = identity(entry) in live
        if entry.kind is FileKind.DELETE and not is_live:
            raise CommitConflictError(
                f"data file {entry.file.file_name} (bucket {entry.bucket}), which this commit "
                f"replaces, is no longer part of snapshot {base}: another writer rewrote or "
                "deleted it. Nothing was committed; read the table again and repeat the change"
            )
        if entry.kind is FileKind.ADD and is_live:
            raise CommitConflictError(
                f"data file {entry.file.file_name} (bucket {entry.bucket}) is part of snapshot "
                f"{base} already; nothing was committed"
            )


def check_bucket_counts(
    changes: Iterable[ManifestEntry], counts: dict[bytes, int], *, base: int
) -> None:
    """Files of a partition share one bucket count, unless an overwrite replaces them all.

    Args:
        changes: Entries of the commit.
        counts: Bucket count of each partition at snapshot `base`.
        base: Snapshot id, for the message.

    Raises:
        CommitConflictError: An ADD was written for another count.
    """
    for entry in changes:
        if entry.kind is not FileKind.ADD or entry.total_buckets <= 0:
            continue
        known = counts.setdefault(entry.partition, entry.total_buckets)
        check_bucket_count(entry.total_buckets, known, base=base)


def check_bucket_count(used: int, known: int, *, base: int) -> None:
    """Rows are added to a partition with the number of buckets that it has.

    Args:
        used: How many buckets the rows were given.
        known: How many the partition has.
        base: Snapshot id, for the message.

    Raises:
        CommitConflictError: They differ.
    """
    if known != used:
        raise CommitConflictError(
            f"this write used {used} buckets, but the partition has {known} in "
            f"snapshot {base}; rows would be found in two buckets. Nothing was committed: "
            f"rescale the partition first, by overwriting it with its own rows, or set the option "
            f"'bucket' back to {known}"
        )


def bucket_counts(entries: pa.Table) -> dict[bytes, int]:
    """Bucket count of each partition that has files in real buckets."""
    fixed = entries.filter(pc.greater(entries.column("total_buckets"), 0))
    pairs = (
        fixed.select(["partition", "total_buckets"])
        .group_by(["partition"])
        .aggregate([("total_buckets", "max")])
    )
    return dict(
        zip(
            python_values(pairs.column("partition")),
            python_values(pairs.column("total_buckets_max")),
            strict=True,
        )
    )


def max_sequence_numbers(entries: pa.Table) -> dict[tuple[bytes, int], int]:
    """Greatest sequence number of each (partition, bucket)."""
    groups = (
        entries.select(["partition", "bucket", "max_sequence_number"])
        .group_by(["partition", "bucket"])
        .aggregate([("max_sequence_number", "max")])
    )
    keys = zip(
        python_values(groups.column("partition")),
        python_values(groups.column("bucket")),
        strict=True,
    )
    numbers = python_values(groups.column("max_sequence_number_max"))
    return dict(zip(keys, numbers, strict=True))
