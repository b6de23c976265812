"""What is listed after a change of index files, and which changes contradict another writer's."""

from dataclasses import dataclass

import pytest

from lakebed.errors import CommitConflictError
from lakebed.format.index_manifest import (
    DELETION_VECTORS,
    IndexManifestEntry,
    index_entries_from_columns,
    index_entries_to_columns,
)
from lakebed.table.metadata.index_files import (
    IndexChanges,
    Touched,
    check_index_files_kept,
    check_vectors_have_files,
    combined_index_files,
    touched_by,
)
from support.index_files import index_entry

P, Q = b"p", b"q"


def vectors(
    name: str, *data_files: str, partition: bytes = P, bucket: int = 0
) -> IndexManifestEntry:
    return index_entry(
        name,
        partition=partition,
        bucket=bucket,
        index_type=DELETION_VECTORS,
        data_files=data_files,
    )


def hashes(name: str, *, partition: bytes = P, bucket: int = 0) -> IndexManifestEntry:
    return index_entry(name, partition=partition, bucket=bucket)


@dataclass(frozen=True)
class Combination:
    """A change of the index files of a table, and the names listed after it or the error."""

    listed: tuple[IndexManifestEntry, ...]
    added: tuple[IndexManifestEntry, ...] = ()
    deleted: tuple[IndexManifestEntry, ...] = ()
    is_unaware: bool = False
    after: tuple[str, ...] = ()
    error: str | None = None


COMBINATIONS = {
    "a hash index takes the place of its bucket's": Combination(
        (hashes("a"), hashes("b", bucket=1), hashes("c", partition=Q)),
        added=(hashes("d"),),
        after=("b", "c", "d"),
    ),
    "vectors of a bucket and its hash index stand side by side": Combination(
        (hashes("a"), vectors("b", "x")), added=(vectors("c", "x"),), after=("a", "c")
    ),
    "a file that goes need not be followed by one": Combination(
        (hashes("a"), vectors("b", "x")), deleted=(vectors("b", "x"),), after=("a",)
    ),
    "vectors without buckets are many files": Combination(
        (vectors("a", "x"),), added=(vectors("b", "y"),), is_unaware=True, after=("a", "b")
    ),
    "a vector without buckets moves to another file": Combination(
        (vectors("a", "x", "y"),),
        added=(vectors("b", "x", "y"),),
        deleted=(vectors("a", "x", "y"),),
        is_unaware=True,
        after=("b",),
    ),
    "a hash index of a table whose vectors have no buckets has one all the same": Combination(
        (hashes("a"),), added=(hashes("b"),), is_unaware=True, after=("b",)
    ),
    "global indexes are many files": Combination(
        (index_entry("a", index_type="btree"),),
        added=(index_entry("b", index_type="btree"),),
        after=("a", "b"),
    ),
    "a file to delete is gone": Combination(
        (hashes("a"),), deleted=(hashes("z"),), error="index file z, .* no longer listed in"
    ),
    "a second vector of a data file": Combination(
        (vectors("a", "x"),),
        added=(vectors("b", "x"),),
        is_unaware=True,
        error="data file x has a deletion vector in snapshot 7 already",
    ),
    "two vectors of a data file in one commit": Combination(
        (), added=(vectors("a", "x"), vectors("b", "x")), is_unaware=True, error="data file x has"
    ),
    "two hash indexes of a bucket in one commit": Combination(
        (), added=(hashes("a"), hashes("b")), error="two index files of type HASH for bucket 0"
    ),
    "a file that is listed already": Combination(
        (hashes("a"),), added=(hashes("a"),), error="a is listed in snapshot 7 already"
    ),
}


@pytest.mark.parametrize("case", COMBINATIONS.values(), ids=list(COMBINATIONS))
def test_a_change_is_combined_with_what_is_listed(case: Combination) -> None:
    changes = IndexChanges(added=case.added, deleted=case.deleted)

    def combine() -> list[IndexManifestEntry]:
        listed = index_entries_to_columns(case.listed)
        after = combined_index_files(listed, changes, is_unaware=case.is_unaware, base=7)
        return index_entries_from_columns(after)

    if case.error is None:
        assert sorted(entry.file_name for entry in combine()) == sorted(case.after)
        return
    with pytest.raises(CommitConflictError, match=case.error):
        combine()


@dataclass(frozen=True)
class Movement:
    """Index files before and now, and whether a commit that builds on some may go on."""

    before: tuple[IndexManifestEntry, ...]
    now: tuple[IndexManifestEntry, ...]
    touched: Touched
    is_unaware: bool = False
    error: str | None = None


IN_P = Touched(partitions={P})
OF_BUCKET = Touched(buckets={(P, 0)})
OF_FILE = Touched(data_files={"x"})
HASH_ERROR, VECTOR_ERROR = "changed the hash index", "deleted rows of"

MOVEMENTS = {
    "hashes of another partition": Movement((), (hashes("a", partition=Q),), IN_P),
    "new hashes of the partition": Movement((), (hashes("a"),), IN_P, error=HASH_ERROR),
    "other hashes of the partition": Movement(
        (hashes("a", bucket=3),), (hashes("b", bucket=3),), IN_P, error=HASH_ERROR
    ),
    "vectors of a partition that rows are added to": Movement((), (vectors("a", "x"),), IN_P),
    "vectors of another bucket": Movement((), (vectors("a", "x", bucket=1),), OF_BUCKET),
    "vectors of the bucket": Movement(
        (vectors("a", "x"),),
        (vectors("b", "x"),),
        OF_BUCKET,
        error=f"{VECTOR_ERROR} bucket 0",
    ),
    "vectors of the bucket are gone": Movement(
        (vectors("a", "x"),), (), OF_BUCKET, error=VECTOR_ERROR
    ),
    "a vector of another data file": Movement((), (vectors("a", "y"),), OF_FILE, is_unaware=True),
    "a vector of the data file": Movement(
        (), (vectors("a", "y", "x"),), OF_FILE, is_unaware=True, error=f"{VECTOR_ERROR} data file x"
    ),
}


@pytest.mark.parametrize("case", MOVEMENTS.values(), ids=list(MOVEMENTS))
def test_what_a_commit_builds_on_must_hold_still(case: Movement) -> None:
    def check() -> None:
        check_index_files_kept(
            index_entries_to_columns(case.before),
            index_entries_to_columns(case.now),
            touched=case.touched,
            is_unaware=case.is_unaware,
            base=7,
        )

    if case.error is None:
        check()
        return
    with pytest.raises(CommitConflictError, match=case.error):
        check()


def test_a_new_vector_of_a_file_that_is_gone_is_a_conflict() -> None:
    changes = IndexChanges(added=(vectors("a", "x", "y"),))
    check_vectors_have_files(changes, {"x", "y", "z"}, base=7)
    with pytest.raises(CommitConflictError, match=r"data file y, .* no longer part of snapshot 7"):
        check_vectors_have_files(changes, {"x", "z"}, base=7)


def test_index_files_touch_their_partitions_and_vectors_their_buckets_and_files() -> None:
    changes = IndexChanges(added=(hashes("a", bucket=4),), deleted=(vectors("b", "x", bucket=2),))
    assert touched_by(changes) == Touched(
        partitions=frozenset({P}),
        buckets=frozenset({(P, 2)}),
        data_files=frozenset({"x"}),
    )
    assert changes.marks_rows
    assert not IndexChanges(added=(hashes("a"),)).marks_rows
