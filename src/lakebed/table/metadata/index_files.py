"""The algebra of index files: what a snapshot lists after a change, and what may be committed.

Pure, over the columns of index manifests (format.md 12): a table may list an index file for each of
its buckets, and a change is of few. An index manifest is written whole, so a change is the list
before it less what goes plus what comes:

1. HASH, and DELETION_VECTORS of buckets: a bucket has one file of each type; a new one takes its
   place.
2. DELETION_VECTORS of tables without buckets: any number of files; a data file has its vector in
   one of them.
3. Every other type: any number of files.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from lakebed.errors import CommitConflictError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowColumn, python_values
from lakebed.format.hash_index import HASH_INDEX
from lakebed.format.index_manifest import (
    DELETION_VECTORS,
    INDEX_COLUMNS,
    IndexManifestEntry,
    deletion_vector_columns,
    index_entries_to_columns,
)

_REPEAT = "Nothing was committed; read the table again and repeat the change"

Bucket = tuple[bytes, int]
_SLOT = ("partition", "bucket", "index_type")
_Slot = tuple[bytes, int, str]
_Place = tuple[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexChanges:
    """The index files that come and go with a commit.

    Attributes:
        added: Those that come.
        deleted: Those that go, which must still be listed.
    """

    added: tuple[IndexManifestEntry, ...] = ()
    deleted: tuple[IndexManifestEntry, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the list stays as it is."""
        return not self.added and not self.deleted

    @property
    def marks_rows(self) -> bool:
        """Whether deletion vectors come or go, so that rows disappear or return."""
        return any(entry.index_type == DELETION_VECTORS for entry in (*self.added, *self.deleted))


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """What a commit builds on, so that nobody else may have changed its index files meanwhile.

    Attributes:
        partitions: Partitions written to, whose hash indexes said which bucket has a key.
        buckets: Buckets whose files or deletion vectors are replaced.
        data_files: Files of tables without buckets that are replaced, or whose vectors are.
    """

    partitions: Collection[bytes] = field(default_factory=frozenset)
    buckets: Collection[Bucket] = field(default_factory=frozenset)
    data_files: Collection[str] = field(default_factory=frozenset)


def combined_index_files(
    listed: pa.Table, changes: IndexChanges, *, is_unaware: bool, base: int
) -> pa.Table:
    """What is listed after a change.

    Args:
        listed: The index files at snapshot `base`, as `INDEX_COLUMNS`.
        changes: What comes and goes.
        is_unaware: Whether the table has no buckets.
        base: Snapshot id, for messages.

    Raises:
        CommitConflictError: A file to delete is not listed, one to add is, or a bucket or a data
            file would have two indexes of a type.
    """
    gone = pa.array(sorted({entry.file_name for entry in changes.deleted}), pa.string())
    lost = gone.filter(pc.invert(pc.is_in(gone, value_set=listed["file_name"])))
    if len(lost):
        raise CommitConflictError(
            f"index file {lost[0]}, which this commit replaces, is no longer listed in "
            f"snapshot {base}: another writer replaced it. {_REPEAT}"
        )
    left = listed.filter(pc.invert(pc.is_in(listed["file_name"], value_set=gone)))
    taken = _slots(changes.added, is_unaware=is_unaware)
    kept = left.filter(pc.invert(_are_among(left, _SLOT, taken)))
    _check_names(left, changes.added, base=base)
    if is_unaware:
        _check_owners(kept, changes.added, base=base)
    return pa.concat_tables([kept, index_entries_to_columns(changes.added)])


def check_index_files_kept(
    before: pa.Table,
    now: pa.Table,
    *,
    touched: Touched,
    is_unaware: bool,
    base: int,
) -> None:
    """What a commit builds on must be indexed as it was when its writers started.

    Args:
        before: The index files that the writers started from, as `INDEX_COLUMNS`.
        now: The index files at snapshot `base`.
        touched: What the commit builds on.
        is_unaware: Whether the table has no buckets.
        base: Snapshot id, for messages.

    Raises:
        CommitConflictError: Another writer changed a hash index or a deletion vector.
    """
    if _hash_files(before, touched) != _hash_files(now, touched):
        raise CommitConflictError(
            "another writer changed the hash index of a partition that this commit writes to, so "
            f"one key could be in two buckets of snapshot {base}. {_REPEAT}"
        )
    vectors = _owners if is_unaware else _bucket_vectors
    old, new = vectors(before, touched), vectors(now, touched)
    changed = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
    if changed:
        raise CommitConflictError(
            f"another writer deleted rows of {changed[0][0]} by deletion vectors until "
            f"snapshot {base}; they would return with this commit. {_REPEAT}"
        )


def check_vectors_have_files(
    changes: IndexChanges, data_files: Collection[str], *, base: int
) -> None:
    """New deletion vectors must be of files that are live after the commit.

    Args:
        changes: What comes and goes.
        data_files: Names of the files that are live after the commit.
        base: Snapshot id, for the message.

    Raises:
        CommitConflictError: A file is gone.
    """
    for name in _data_files(changes.added):
        if name not in data_files:
            raise CommitConflictError(
                f"data file {name}, whose rows this commit deletes, is no longer part of snapshot "
                f"{base}: another writer rewrote or deleted it. {_REPEAT}"
            )


def touched_by(changes: IndexChanges) -> Touched:
    """What the index files that come and go are of."""
    entries = (*changes.added, *changes.deleted)
    vectors = [entry for entry in entries if entry.index_type == DELETION_VECTORS]
    return Touched(
        partitions=frozenset(entry.partition for entry in entries),
        buckets=frozenset((entry.partition, entry.bucket) for entry in vectors),
        data_files=frozenset(_data_files(vectors)),
    )


def _slot(entry: IndexManifestEntry, *, is_unaware: bool) -> _Slot | None:
    """The place that only one index file has; None where there is none."""
    is_alone = entry.index_type == HASH_INDEX or (
        entry.index_type == DELETION_VECTORS and not is_unaware
    )
    return (entry.partition, entry.bucket, entry.index_type) if is_alone else None


def _slots(added: Iterable[IndexManifestEntry], *, is_unaware: bool) -> set[_Slot]:
    taken: set[_Slot] = set()
    for entry in added:
        slot = _slot(entry, is_unaware=is_unaware)
        if slot is None:
            continue
        if slot in taken:
            raise CommitConflictError(
                f"this commit has two index files of type {entry.index_type} for bucket "
                f"{entry.bucket} of one partition; a bucket has one. Nothing was committed: write "
                "each bucket in one task"
            )
        taken.add(slot)
    return taken


def _check_names(left: pa.Table, added: Collection[IndexManifestEntry], *, base: int) -> None:
    name = _first_owned(left["file_name"], [entry.file_name for entry in added])
    if name is not None:
        raise CommitConflictError(
            f"index file {name} is listed in snapshot {base} already; nothing was committed"
        )


def _check_owners(kept: pa.Table, added: Collection[IndexManifestEntry], *, base: int) -> None:
    owned = deletion_vector_columns(kept)["data_file_name"]
    name = _first_owned(owned, _data_files(added))
    if name is not None:
        raise CommitConflictError(
            f"data file {name} has a deletion vector in snapshot {base} already, and may have "
            f"one only: another writer deleted rows of it. {_REPEAT}"
        )


def _first_owned(owned: ArrowColumn, names: list[str]) -> str | None:
    """The first name that is among others already, or comes twice."""
    new = pa.array(names, pa.string())
    taken = set(python_values(new.filter(pc.is_in(new, value_set=owned))))
    for name in names:
        if name in taken:
            return name
        taken.add(name)
    return None


def _data_files(entries: Iterable[IndexManifestEntry]) -> list[str]:
    return [
        each.data_file_name
        for entry in entries
        if entry.index_type == DELETION_VECTORS
        for each in entry.deletion_vectors_ranges or ()
    ]


def _hash_files(listed: pa.Table, touched: Touched) -> set[str]:
    wanted = [(partition, HASH_INDEX) for partition in touched.partitions]
    found = listed.filter(_are_among(listed, ("partition", "index_type"), wanted))
    return set(python_values(found["file_name"]))


def _owners(listed: pa.Table, touched: Touched) -> dict[_Place, str]:
    """The index file of each data file's vector."""
    vectors = deletion_vector_columns(listed)
    names = pa.array(list(touched.data_files), pa.string())
    found = vectors.filter(pc.is_in(vectors["data_file_name"], value_set=names))
    owners = zip(
        python_values(found["data_file_name"]),
        python_values(found["index_file_name"]),
        strict=True,
    )
    return {(f"data file {name}", b""): index_file for name, index_file in owners}


def _bucket_vectors(listed: pa.Table, touched: Touched) -> dict[_Place, str]:
    """The index file of each bucket's vectors."""
    wanted = [(*bucket, DELETION_VECTORS) for bucket in touched.buckets]
    found = listed.filter(_are_among(listed, _SLOT, wanted))
    columns = (python_values(found[name]) for name in ("bucket", "partition", "file_name"))
    return {
        (f"bucket {bucket}", partition): name
        for bucket, partition, name in zip(*columns, strict=True)
    }


def _are_among(
    rows: pa.Table, names: tuple[str, ...], wanted: Collection[tuple[object, ...]]
) -> ArrowColumn:
    """Which rows have one of some combinations of values in some columns."""
    schema = pa.schema([INDEX_COLUMNS.field(name) for name in names])
    values = [[each[place] for each in wanted] for place in range(len(names))]
    keys = pa.table(values, schema=schema)
    places = rows.select(list(names)).append_column("place", pa.array(np.arange(rows.num_rows)))
    found = places.join(keys, keys=list(names), join_type="left semi")["place"]
    mask = np.zeros(rows.num_rows, np.bool_)
    mask[found.to_numpy()] = True
    return pa.array(mask)
