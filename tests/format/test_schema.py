import json
from pathlib import Path

import pytest

from lakebed.errors import CorruptTableError, InvalidArgumentError, UnsupportedError
from lakebed.format.schema import TableSchema
from lakebed.format.schema_builder import build_schema
from lakebed.format.schema_definition import schema

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "warehouse"
GOLDEN_SCHEMAS = sorted(GOLDEN.rglob("schema/schema-*"))

ORDERS = build_schema(
    schema([("id", "BIGINT"), ("dt", "STRING"), ("total", "DOUBLE", {"default": "0"})]).fields,
    primary_keys=["dt", "id"],
    partition_keys=["dt"],
    options={"bucket": "4"},
    comment="orders",
    time_millis=7,
)


def changed(**members: object) -> bytes:
    return json.dumps({**json.loads(ORDERS.to_json()), **members}).encode()


def without(name: str) -> bytes:
    members = json.loads(ORDERS.to_json())
    del members[name]
    return json.dumps(members).encode()


def test_every_golden_schema_is_printed_as_the_real_engine_does() -> None:
    assert len(GOLDEN_SCHEMAS) == 74
    for path in GOLDEN_SCHEMAS:
        data = path.read_bytes()
        assert TableSchema.from_json(data, str(path)).to_json() == data, path


def test_a_built_schema_comes_back_from_its_file() -> None:
    assert TableSchema.from_json(ORDERS.to_json(), "x") == ORDERS


def test_keys_and_types_of_parts_of_a_row() -> None:
    assert ORDERS.names == ["id", "dt", "total"]
    assert ORDERS.trimmed_primary_keys == ("id",)
    assert ORDERS.bucket_keys == ("id",)
    assert ORDERS.partition_type.names == ["dt"]
    assert ORDERS.row_type.fields == ORDERS.fields
    assert ORDERS.field("total").id == 2


def test_bucket_key_option_goes_before_the_primary_key() -> None:
    data = changed(options={"bucket": "4", "bucket-key": "total,id"})
    assert TableSchema.from_json(data, "x").bucket_keys == ("total", "id")


def test_key_fields_have_names_and_ids_of_their_own() -> None:
    (key,) = ORDERS.key_fields()
    assert (key.id, key.name, key.type) == (1073741823, "_KEY_id", ORDERS.field("id").type)


def test_an_unknown_column_is_named_with_those_that_are_there() -> None:
    with pytest.raises(InvalidArgumentError, match=r"'ID'.*id, dt, total"):
        ORDERS.field("ID")


def test_first_version_has_one_bucket_and_orc_by_default() -> None:
    members = json.loads(changed(options={}))
    del members["version"]
    read = TableSchema.from_json(json.dumps(members).encode(), "x")
    assert (read.version, read.options) == (1, {"bucket": "1", "file.format": "orc"})


def test_second_version_has_orc_by_default_and_keeps_what_is_said() -> None:
    assert TableSchema.from_json(changed(version=2, options={}), "x").options == {
        "file.format": "orc"
    }
    said = {"file.format": "parquet"}
    assert TableSchema.from_json(changed(version=2, options=said), "x").options == said


def test_a_newer_version_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"x: .*version 4"):
        TableSchema.from_json(b'{"version": 4}', "x")


def test_a_type_that_lakebed_lacks_is_refused_with_the_file() -> None:
    fields = [{"id": 0, "name": "g", "type": "GEOMETRY(OGC:CRS84)"}]
    with pytest.raises(UnsupportedError, match=r"schema-3: .*GEOMETRY"):
        TableSchema.from_json(changed(fields=fields), "schema-3")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        ORDERS.to_json()[:-3],
        changed(id="0"),
        changed(fields="x"),
        changed(fields=[{"id": 0, "name": "a", "type": "FOO"}]),
        changed(options={"bucket": 4}),
        changed(primaryKeys=["nope"]),
        changed(partitionKeys=["nope"]),
        changed(options={"bucket-key": "nope"}),
        changed(fields=json.loads(ORDERS.to_json())["fields"] * 2),
        without("fields"),
        without("highestFieldId"),
    ],
)
def test_a_broken_file_is_corrupt_and_named(data: bytes) -> None:
    with pytest.raises(CorruptTableError) as caught:
        TableSchema.from_json(data, "/t/schema/schema-0")
    assert caught.value.path == "/t/schema/schema-0"
