"""Every damage is found, under its own code, and nothing else is.

A damage is one change behind the table's back; `Damager` makes right whatever else would not fit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from lakebed.table.checking.findings import Code
from support import table_damages as damages
from support.damaged_tables import Damager
from support.table_builder import Shape, Step, build_table

ONE = (Step("write", range(12)),)
TWO = (*ONE, Step("write", range(6, 18)))
MARKING = (*ONE, Step("write", (3,)))
THREE = (*TWO, Step("write", (3,)))
KEYED = Shape(buckets=1).with_options({"write-only": "true"})
BUCKETS = Shape(buckets=2).with_options({"write-only": "true"})
DAYS = Shape(buckets=1, is_partitioned=True).with_options({"write-only": "true"})
APPEND = Shape(has_primary_key=False, buckets=-1)
MARKED = Shape(buckets=1).with_options({"deletion-vectors.enabled": "true"})
DYNAMIC = Shape(buckets=-1).with_options({"write-only": "true"})
CHANGELOG = KEYED.with_options({"changelog-producer": "input"})
TRACKED = APPEND.with_options({"row-tracking.enabled": "true"})


@dataclass(frozen=True, slots=True)
class Case:
    """A damage.

    Attributes:
        damage: What is done.
        quick: What a quick check finds.
        full: What a full one finds besides.
        shape: Of which table.
        history: What that was through.
    """

    damage: Callable[[Damager], None]
    quick: Sequence[Code] = ()
    full: Sequence[Code] = ()
    shape: Shape = KEYED
    history: Sequence[Step] = ONE


def edited(**members: object) -> Callable[[Damager], None]:
    """An entry that says something else of its file."""
    return lambda table: table.edit_file(**members)


CASES = {
    "a data file is gone": Case(damages.delete_data_file, [Code.MISSING_FILE]),
    "a data file is cut off": Case(damages.cut_data_file, [Code.FILE_SIZE]),
    "a data file holds zeros": Case(damages.garble_data_file, full=[Code.UNREADABLE_FILE]),
    "two data files are swapped": Case(
        damages.swap_data_files,
        full=[
            Code.KEY_RANGE,
            Code.ROW_COUNT,
            Code.SEQUENCE_RANGE,
            Code.STATISTICS,
            Code.WRONG_BUCKET,
        ],
        shape=BUCKETS,
    ),
    "a manifest is gone": Case(damages.delete_manifest, [Code.MISSING_METADATA]),
    "a manifest is cut off": Case(damages.cut_manifest, [Code.METADATA_SIZE]),
    "a manifest holds zeros": Case(damages.garble_manifest, [Code.UNREADABLE_METADATA]),
    "a manifest list is gone": Case(damages.delete_manifest_list, [Code.MISSING_METADATA]),
    "a snapshot holds zeros": Case(
        damages.garble_snapshot, [Code.UNREADABLE_METADATA], history=TWO
    ),
    "a tag holds zeros": Case(damages.garble_tag, [Code.UNREADABLE_METADATA]),
    "a tag names what is gone": Case(
        damages.tag_of_lost_files, [Code.MISSING_METADATA], history=TWO
    ),
    "a snapshot between two is gone": Case(
        damages.delete_snapshot, [Code.SNAPSHOT_GAP], history=THREE
    ),
    "a schema is gone": Case(damages.delete_schema, [Code.UNKNOWN_SCHEMA]),
    "a snapshot counts wrongly": Case(damages.wrong_total, [Code.RECORD_COUNTS]),
    "a file is added twice": Case(damages.twice_added, [Code.DOUBLE_ADD]),
    "what is not there is deleted": Case(damages.deleted_for_nothing, [Code.DELETE_OF_NOTHING]),
    "a base list forgets files": Case(damages.forget_base, [Code.BASE_DIFFERS], history=TWO),
    "a list counts wrongly": Case(damages.miscount_manifest, [Code.MANIFEST_COUNTS]),
    "a list bounds buckets wrongly": Case(damages.misplace_manifest, [Code.MANIFEST_BOUNDS]),
    "a list bounds partitions wrongly": Case(
        damages.narrow_partitions, [Code.MANIFEST_BOUNDS], shape=DAYS
    ),
    "files of a level overlap": Case(
        damages.on_one_level, [Code.LEVELS_OVERLAP], [Code.EQUAL_SEQUENCE]
    ),
    "an entry counts rows wrongly": Case(edited(row_count=13), full=[Code.ROW_COUNT]),
    "an entry counts deletes wrongly": Case(
        edited(delete_row_count=2), full=[Code.DELETE_ROW_COUNT]
    ),
    "an entry has other sequence numbers": Case(
        edited(max_sequence_number=99), full=[Code.SEQUENCE_RANGE]
    ),
    "an entry has another key": Case(damages.edit_keys, full=[Code.KEY_RANGE]),
    "bounds are too narrow": Case(damages.edit_statistics, full=[Code.STATISTICS]),
    "null counts are wrong": Case(damages.edit_null_counts, full=[Code.STATISTICS]),
    "an entry has a schema that there is not": Case(
        edited(schema_id=8), full=[Code.UNKNOWN_SCHEMA]
    ),
    "rows are out of order": Case(
        lambda table: table.rewrite_rows(damages.swap_rows), full=[Code.UNSORTED_KEYS]
    ),
    "a file has a key twice": Case(
        lambda table: table.rewrite_rows(damages.repeat_key), full=[Code.DUPLICATE_KEY]
    ),
    "a row lacks what is NOT NULL": Case(
        lambda table: table.rewrite_rows(damages.lose_key),
        full=[Code.NULL_VALUE, Code.STATISTICS],
        shape=APPEND,
    ),
    "a file is in another bucket": Case(
        damages.into_other_bucket, full=[Code.WRONG_BUCKET], shape=BUCKETS
    ),
    "a file is in another partition": Case(
        damages.into_other_partition, full=[Code.WRONG_PARTITION], shape=DAYS
    ),
    "a partition has two bucket counts": Case(
        damages.other_bucket_count, [Code.BUCKET_COUNTS], shape=BUCKETS
    ),
    "a bucket is none of the partition's": Case(
        damages.into_third_bucket, [Code.BUCKET_OUT_OF_RANGE], [Code.WRONG_BUCKET], shape=BUCKETS
    ),
    "an index file is gone": Case(
        damages.delete_index, [Code.MISSING_FILE], shape=MARKED, history=MARKING
    ),
    "an index file is cut off": Case(
        damages.cut_index, [Code.FILE_SIZE], shape=MARKED, history=MARKING
    ),
    "an index file is miscounted": Case(
        damages.wrong_index_count, [Code.INDEX_COUNTS], shape=MARKED, history=MARKING
    ),
    "a deletion vector is of no file": Case(
        damages.vector_of_no_file,
        [Code.DANGLING_VECTOR],
        [Code.TWO_LIVE_ROWS],
        shape=MARKED,
        history=MARKING,
    ),
    "a deletion vector is miscounted": Case(
        damages.wrong_cardinality, full=[Code.DELETION_VECTOR], shape=MARKED, history=MARKING
    ),
    "a deletion vector points past the end": Case(
        damages.vector_past_the_end, full=[Code.DELETION_VECTOR], shape=MARKED, history=MARKING
    ),
    "deletion vectors are lost": Case(
        damages.forget_vectors, full=[Code.TWO_LIVE_ROWS], shape=MARKED, history=MARKING
    ),
    "a hash index has other keys": Case(
        damages.other_hashes, full=[Code.HASH_INDEX], shape=DYNAMIC
    ),
    "a hash index is not listed": Case(
        damages.forget_vectors, full=[Code.HASH_INDEX], shape=DYNAMIC
    ),
    "a changelog file is gone": Case(
        damages.delete_changelog, [Code.MISSING_FILE], shape=CHANGELOG
    ),
    "row ids are given twice": Case(
        damages.same_row_ids, [Code.ROW_IDS], shape=TRACKED, history=TWO
    ),
    "a hint is stale": Case(damages.stale_hint, [Code.STALE_HINT], history=TWO),
    "an expiry left copies": Case(damages.leave_copy, [Code.EXPIRED_COPIES]),
    "a rollback broke off": Case(damages.leave_marker, [Code.UNFINISHED_REWRITE]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_damage_is_found_and_nothing_else(name: str) -> None:
    case = CASES[name]
    built = build_table(case.shape, case.history)
    before = built.table.check()
    assert before.is_clean, before
    case.damage(Damager(built.table))
    after = built.table.check()
    assert {each.what for each in after} == {*case.quick, *case.full}, after
    quick = built.table.check("quick")
    assert {each.what for each in quick} == set(case.quick), quick


def test_every_code_has_a_damage() -> None:
    shown = {code for case in CASES.values() for code in (*case.quick, *case.full)}
    assert set(Code) - shown == {
        # Of two writers at once, of ORC files with NaN, and of stores: each has a test of its own.
        Code.NAN_ABOVE_BOUND,
        Code.NOT_CHECKED,
        Code.STORAGE_FAILED,
        Code.CHANGED_MEANWHILE,
    }
