import json
from pathlib import Path

import msgspec
import pytest

from lakebed.errors import CorruptTableError, UnsupportedError
from lakebed.format.snapshot import SNAPSHOT_VERSION, CommitKind, Operation, Snapshot

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "warehouse"
GOLDEN_SNAPSHOTS = sorted(GOLDEN.rglob("snapshot/snapshot-*"))

SNAPSHOT = Snapshot(
    id=4,
    schema_id=2,
    base_manifest_list="manifest-list-a-0",
    delta_manifest_list="manifest-list-a-1",
    commit_user="user",
    commit_identifier=9223372036854775807,
    commit_kind=CommitKind.APPEND,
    time_millis=1,
    total_record_count=2,
    delta_record_count=-1,
)


def as_json(**changes: object) -> bytes:
    return json.dumps({**json.loads(SNAPSHOT.to_json()), **changes}).encode()


def test_every_golden_snapshot_is_printed_as_the_real_engine_does() -> None:
    assert len(GOLDEN_SNAPSHOTS) == 208
    for path in GOLDEN_SNAPSHOTS:
        data = path.read_bytes()
        assert Snapshot.from_json(data, str(path)).to_json() == data, path


def test_what_is_none_is_left_out() -> None:
    members = json.loads(SNAPSHOT.to_json())
    assert list(members) == [
        "version",
        "id",
        "schemaId",
        "baseManifestList",
        "deltaManifestList",
        "commitUser",
        "commitIdentifier",
        "commitKind",
        "timeMillis",
        "totalRecordCount",
        "deltaRecordCount",
    ]


def test_empty_properties_are_left_out() -> None:
    empty = msgspec.structs.replace(SNAPSHOT, properties={})
    assert empty.to_json() == SNAPSHOT.to_json()


def test_optional_fields_survive() -> None:
    full = msgspec.structs.replace(
        SNAPSHOT,
        uuid="u",
        index_manifest="index-manifest-a-0",
        watermark=-9223372036854775808,
        statistics="stat-a-0",
        properties={"k": "v"},
        next_row_id=0,
        operation=Operation.MERGE,
    )
    assert Snapshot.from_json(full.to_json(), "x") == full


def test_unknown_fields_and_operations_are_read() -> None:
    read = Snapshot.from_json(as_json(logOffsets={"0": 1}, operation="VACUUM"), "x")
    assert read.operation == "VACUUM"


def test_a_file_without_version_is_of_the_first() -> None:
    members = json.loads(SNAPSHOT.to_json())
    del members["version"]
    assert Snapshot.from_json(json.dumps(members).encode(), "x").version == 1


def test_a_newer_version_is_refused_even_if_its_fields_differ() -> None:
    data = json.dumps({"version": SNAPSHOT_VERSION + 1}).encode()
    with pytest.raises(UnsupportedError, match=r"x: .* version 4"):
        Snapshot.from_json(data, "x")


def test_an_unknown_commit_kind_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="commit kind 'SPLIT'"):
        Snapshot.from_json(as_json(commitKind="SPLIT"), "x")


@pytest.mark.parametrize(
    "changes",
    [{"id": "4"}, {"id": None}, {"baseManifestList": 1}, {"version": "3"}, {"commitKind": 1}],
)
def test_a_field_of_another_type_is_corrupt(changes: dict[str, object]) -> None:
    with pytest.raises(CorruptTableError) as caught:
        Snapshot.from_json(as_json(**changes), "/t/snapshot/snapshot-4")
    assert caught.value.path == "/t/snapshot/snapshot-4"


def test_a_truncated_file_is_corrupt() -> None:
    with pytest.raises(CorruptTableError):
        Snapshot.from_json(SNAPSHOT.to_json()[:-1], "x")
