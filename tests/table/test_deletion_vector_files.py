"""Which index files of a bucket go and come when its files lose rows, or go themselves."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import pytest

from lakebed.errors import CorruptTableError, StorageError
from lakebed.format.deletion_vector import DeletionVectorRef, read_deletion_vector
from lakebed.format.index_manifest import DELETION_VECTORS, IndexManifestEntry
from lakebed.format.paths import FileNames, TablePaths
from lakebed.storage.file_io import FileIO
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.metadata.index_paths import IndexPaths
from lakebed.table.writing.deletion_vector_files import DeletionVectorFiles, VectorChanges
from support.effects import fixed_effects
from support.faulty_file_io import FaultyFileIO
from support.store_listing import list_files

PLACE = (b"p", 3)
ROWS = 100
SEEDS = itertools.count()
Marks = dict[str, list[int]]


def files_of(
    file_io: FileIO, *, is_unaware: bool = True, target_size: int = 1 << 20, is_64_bit: bool = False
) -> DeletionVectorFiles:
    return DeletionVectorFiles(
        file_io=file_io,
        paths=IndexPaths(TablePaths("/t")),
        names=FileNames(fixed_effects(next(SEEDS)).fresh_uuid),
        target_size=target_size,
        is_64_bit=is_64_bit,
        is_unaware=is_unaware,
    )


def changes_of(files: DeletionVectorFiles, marks: Marks, gone: Sequence[str] = ()) -> VectorChanges:
    vectors = {}
    for name, rows in marks.items():
        deleted = np.zeros(ROWS, np.bool_)
        deleted[rows] = True
        vectors[name] = files.encode(deleted, data_file=name)
    return VectorChanges(vectors=vectors, gone=frozenset(gone))


def held(file_io: FileIO, entry: IndexManifestEntry) -> Marks:
    path = f"/t/index/{entry.file_name}"
    assert (entry.partition, entry.bucket, entry.index_type) == (*PLACE, DELETION_VECTORS)
    assert entry.file_size == file_io.size(path)
    ranges = entry.deletion_vectors_ranges or ()
    assert entry.row_count == len(ranges)
    found = {}
    for each in ranges:
        ref = DeletionVectorRef(
            path=path, offset=each.offset, length=each.length, cardinality=each.cardinality
        )
        flags = read_deletion_vector(file_io, ref, data_file=each.data_file_name, row_count=ROWS)
        found[each.data_file_name] = np.flatnonzero(flags).tolist()
    return found


def stored_in(file_io: FileIO, *marks: Marks, is_64_bit: bool = False) -> list[IndexManifestEntry]:
    files = files_of(file_io, is_64_bit=is_64_bit)
    return [
        entry for each in marks for entry in files.change(PLACE, [], changes_of(files, each)).added
    ]


@dataclass(frozen=True, kw_only=True)
class Case:
    """The index files of a bucket, what happens to its files, and the index files that follow.

    `kept` says which of the stored ones stay, by their place.
    """

    stored: tuple[Marks, ...]
    marks: Marks
    gone: tuple[str, ...] = ()
    is_unaware: bool = True
    kept: tuple[int, ...] = ()
    added: tuple[Marks, ...]
    target_size: int = 1 << 20


CASES = {
    "the first vector makes a file": Case(stored=(), marks={"a": [1, 2]}, added=({"a": [1, 2]},)),
    "without buckets a new vector leaves other files alone": Case(
        stored=({"a": [1]},), marks={"b": [2]}, kept=(0,), added=({"b": [2]},)
    ),
    "a vector takes the place of its file's, and the others of the index file stay": Case(
        stored=({"a": [1], "b": [2], "c": [3]}, {"d": [4]}),
        marks={"b": [2, 7], "e": [5]},
        kept=(1,),
        added=({"a": [1], "c": [3], "b": [2, 7], "e": [5]},),
    ),
    "the vector of a file that goes is dropped": Case(
        stored=({"a": [1], "b": [2]}, {"d": [4]}),
        marks={},
        gone=("a", "unmarked"),
        kept=(1,),
        added=({"b": [2]},),
    ),
    "nothing follows an index file whose files all go": Case(
        stored=({"a": [1], "b": [2]},), marks={}, gone=("a", "b"), added=()
    ),
    "files without vectors go without a trace": Case(
        stored=({"a": [1]},), marks={}, gone=("b",), kept=(0,), added=()
    ),
    "a bucket has one index file": Case(
        stored=({"a": [1]},), marks={"b": [2]}, is_unaware=False, added=({"a": [1], "b": [2]},)
    ),
    "a bucket has one index file of any size": Case(
        stored=({"a": [1]},),
        marks={"b": [2], "c": [3]},
        is_unaware=False,
        added=({"a": [1], "b": [2], "c": [3]},),
        target_size=1,
    ),
    "without buckets index files are cut at their target size": Case(
        stored=({"a": [1], "b": [2]},),
        marks={"b": [2, 3], "c": [3], "d": [4]},
        added=({"a": [1], "b": [2, 3]}, {"c": [3], "d": [4]}),
        target_size=50,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_index_files_follow_what_happens_to_data_files(name: str) -> None:
    case, file_io = CASES[name], MemoryFileIO()
    stored = stored_in(file_io, *case.stored)
    files = files_of(file_io, is_unaware=case.is_unaware, target_size=case.target_size)
    found = files.change(PLACE, stored, changes_of(files, case.marks, case.gone))
    kept = [entry for place, entry in enumerate(stored) if place in case.kept]
    assert [entry for entry in stored if entry not in found.deleted] == kept
    assert tuple(held(file_io, entry) for entry in found.added) == case.added


def test_vectors_that_stay_keep_their_form() -> None:
    file_io = MemoryFileIO()
    stored = stored_in(file_io, {"a": [1, 60], "b": [2]}, is_64_bit=True)
    files = files_of(file_io, is_64_bit=False)
    [entry] = files.change(PLACE, stored, changes_of(files, {"b": [2, 3]})).added
    assert held(file_io, entry) == {"a": [1, 60], "b": [2, 3]}
    lengths = {each.data_file_name: each.length for each in entry.deletion_vectors_ranges or ()}
    old = {each.data_file_name: each.length for each in stored[0].deletion_vectors_ranges or ()}
    assert lengths["a"] == old["a"]
    assert lengths["b"] < old["b"]


def test_a_file_that_is_no_index_file_of_vectors_is_corrupt_and_nothing_is_written() -> None:
    file_io = MemoryFileIO()
    [stored] = stored_in(file_io, {"a": [1], "b": [2]})
    path = f"/t/index/{stored.file_name}"
    data = file_io.read(path)
    ranges = stored.deletion_vectors_ranges or ()
    for damaged, entry, message in (
        (b"\2" + data[1:], stored, "no index file of version 1"),
        (b"", stored, "no index file of version 1"),
        (data[:-1], stored, "of b: it is cut off"),
        (data, with_second_at(stored, ranges[1].offset + 1), "of b: its magic number"),
        (data, with_second_at(stored, -1), "of b: the index manifest gives it"),
    ):
        file_io.write(path, damaged)
        files = files_of(file_io)
        with pytest.raises(CorruptTableError, match=message):
            files.change(PLACE, [entry], changes_of(files, {"a": [5]}))
        assert set(list_files(file_io, "/t")) == {path}


def with_second_at(entry: IndexManifestEntry, offset: int) -> IndexManifestEntry:
    """The entry with its second vector elsewhere."""
    first, second = entry.deletion_vectors_ranges or ()
    moved = msgspec.structs.replace(second, offset=offset)
    return msgspec.structs.replace(entry, deletion_vectors_ranges=(first, moved))


def test_a_store_that_fails_leaves_no_new_index_file() -> None:
    file_io = MemoryFileIO()
    stored = stored_in(file_io, {"a": [1], "b": [2]})
    before = set(list_files(file_io, "/t"))
    for fail_at in range(1, 99):
        faulty = FaultyFileIO(file_io, fail_at, counts_reads=True)
        files = files_of(faulty, target_size=30)
        changes = changes_of(files, {"b": [7], "c": [8], "d": [9]})
        try:
            files.change(PLACE, stored, changes)
        except StorageError:
            assert set(list_files(file_io, "/t")) == before, faulty.failed_call
        else:
            assert fail_at > 4
            return
