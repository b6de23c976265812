from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pytest

from lakebed.errors import InvalidTableError
from lakebed.format.schema import TableSchema
from lakebed.format.schema_builder import FieldIds, assign_ids, build_schema
from lakebed.format.schema_definition import schema
from lakebed.format.type_json import type_to_json
from lakebed.format.type_text import format_type, parse_type
from lakebed.format.types import DataField, RowType

GOLDEN_TABLES = sorted(
    (Path(__file__).resolve().parents[1] / "golden" / "warehouse" / "db.db").iterdir()
)
COLUMNS = [("id", "INT"), ("dt", "STRING"), ("v", "DOUBLE"), ("m", "MAP<STRING, INT>")]


def build(
    columns: Sequence[tuple[str, str]] = COLUMNS,
    *,
    primary: Sequence[str] = (),
    partition: Sequence[str] = (),
    options: Mapping[str, str] = MappingProxyType({}),
) -> TableSchema:
    return build_schema(
        schema(columns).fields,
        primary_keys=primary,
        partition_keys=partition,
        options=options,
        time_millis=5,
    )


def test_every_golden_first_schema_is_built_as_the_real_engine_built_it() -> None:
    built = 0
    for table in GOLDEN_TABLES:
        path = table / "schema" / "schema-0"
        real = TableSchema.from_json(path.read_bytes(), str(path))
        # Types that went through text have lost the ids of the real schema.
        ours = build_schema(
            [
                DataField(id=0, name=field.name, type=parse_type(format_type(field.type)))
                for field in real.fields
            ],
            primary_keys=real.primary_keys,
            partition_keys=real.partition_keys,
            options=real.options,
            comment=real.comment,
            time_millis=real.time_millis,
        )
        assert [field.id for field in ours.fields] == [field.id for field in real.fields], table
        assert [field.type for field in ours.fields] == [field.type for field in real.fields]
        assert ours.highest_field_id == real.highest_field_id
        built += 1
    assert built == 47


def test_a_column_counts_before_and_a_row_field_after_what_it_nests() -> None:
    built = build([("st", "ROW<a ROW<b INT>, c ARRAY<ROW<d INT>>>"), ("last", "INT")])
    assert type_to_json(RowType(fields=built.fields)) == {
        "type": "ROW",
        "fields": [
            {
                "id": 0,
                "name": "st",
                "type": {
                    "type": "ROW",
                    "fields": [
                        {
                            "id": 2,
                            "name": "a",
                            "type": {
                                "type": "ROW",
                                "fields": [{"id": 1, "name": "b", "type": "INT"}],
                            },
                        },
                        {
                            "id": 4,
                            "name": "c",
                            "type": {
                                "type": "ARRAY",
                                "element": {
                                    "type": "ROW",
                                    "fields": [{"id": 3, "name": "d", "type": "INT"}],
                                },
                            },
                        },
                    ],
                },
            },
            {"id": 5, "name": "last", "type": "INT"},
        ],
    }
    assert built.highest_field_id == 5


def test_primary_key_columns_become_not_null() -> None:
    built = build(primary=["id"])
    assert [field.type.nullable for field in built.fields] == [False, True, True, True]


def test_keys_said_as_options_move_out_of_them() -> None:
    built = build(options={"primary-key": "id, dt", "partition": "dt", "bucket": "2"})
    assert (built.primary_keys, built.partition_keys) == (("id", "dt"), ("dt",))
    assert built.options == {"bucket": "2"}


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ([("a", "INT"), ("a", "INT")], "'a' is there twice"),
        ([("", "INT")], "has no name"),
        ([("  ", "INT")], "has no name"),
        ([("_KEY_a", "INT")], "'_KEY_a' is reserved"),
        ([("_SEQUENCE_NUMBER", "INT")], "reserved"),
        ([("_VALUE_KIND", "INT")], "reserved"),
        ([("_LEVEL", "INT")], "reserved"),
        ([("rowkind", "INT")], "reserved"),
        ([("_row_kind", "INT")], "reserved"),
        ([("_ROW_ID", "INT")], "reserved"),
        ([("st", "ARRAY<ROW<`` INT>>")], "'st' has a field without name"),
    ],
)
def test_bad_names_are_refused(columns: Sequence[tuple[str, str]], problem: str) -> None:
    with pytest.raises(InvalidTableError, match=problem):
        build(columns)


@pytest.mark.parametrize(
    ("primary", "partition", "problem"),
    [
        (["nope"], [], "primary key column 'nope' is no column.*id, dt, v, m"),
        ([], ["nope"], "partition column 'nope' is no column"),
        (["id", "id"], [], "primary key column 'id' is there twice"),
        ([], ["dt", "dt"], "partition column 'dt' is there twice"),
        (["m"], [], "'m' is of a type that no key can have"),
        ([], ["m"], "'m' is of a type that no key can have"),
        (["dt"], ["dt"], "only partition columns"),
    ],
)
def test_bad_keys_are_refused(primary: list[str], partition: list[str], problem: str) -> None:
    with pytest.raises(InvalidTableError, match=problem):
        build(primary=primary, partition=partition)


def test_keys_said_twice_are_refused() -> None:
    with pytest.raises(InvalidTableError, match="'primary-key'"):
        build(primary=["id"], options={"primary-key": "id"})
    with pytest.raises(InvalidTableError, match="'partition'"):
        build(partition=["dt"], options={"partition": "dt"})


@pytest.mark.parametrize(
    ("primary", "options", "problem"),
    [
        ([], {"bucket-key": "id"}, "'bucket-key' needs a number of buckets"),
        ([], {"bucket": "2"}, "needs 'bucket-key'"),
        ([], {"bucket": "2", "bucket-key": "nope"}, "'nope' is no column"),
        ([], {"bucket": "2", "bucket-key": "id, v"}, "' v' is no column"),
        ([], {"bucket": "2", "bucket-key": "id,id"}, "'id' is there twice"),
        ([], {"bucket": "2", "bucket-key": "m"}, "no key can have"),
        (["id"], {"bucket": "2", "bucket-key": "v"}, "'v' is not in the primary key"),
        (["id"], {"bucket": "0"}, "'bucket' is 0"),
        (["id"], {"bucket": "-3"}, "'bucket' is -3"),
        (["id"], {"bucket": "many"}, "'bucket' is 'many'"),
        ([], {"bucket": "-2"}, "'bucket' is -2"),
    ],
)
def test_bad_buckets_are_refused(primary: list[str], options: dict[str, str], problem: str) -> None:
    with pytest.raises(InvalidTableError, match=problem):
        build(primary=primary, options=options)


def test_a_bucket_key_of_partition_columns_is_refused() -> None:
    with pytest.raises(InvalidTableError, match="'dt' is a partition column"):
        build(partition=["dt"], options={"bucket": "2", "bucket-key": "dt"})


def test_bucket_modes_that_can_be_are_taken() -> None:
    assert build(options={"bucket": "2", "bucket-key": "id,v"}).bucket_keys == ("id", "v")
    assert build(primary=["id"], options={"bucket": "-2"}).bucket_keys == ("id",)
    assert build(primary=["id", "v"], options={"bucket": "3", "bucket-key": "v"}).bucket_keys == (
        "v",
    )
    assert build(options={"bucket": "-1"}).bucket_keys == ()


def test_ids_go_on_from_the_highest_of_the_table() -> None:
    ids = FieldIds(highest=9)
    kind = assign_ids(parse_type("ROW<a INT, b INT>"), ids)
    assert isinstance(kind, RowType)
    assert [field.id for field in kind] == [10, 11]
