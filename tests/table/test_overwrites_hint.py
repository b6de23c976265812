"""Which kept snapshots are overwrites: looked up once each, and never believed wrongly."""

from msgspec.structs import replace as changed

from lakebed.format.snapshot import CommitKind
from lakebed.table.expiry.overwrites import overwrites_among
from lakebed.table.table import Table
from support.effects import reopen
from support.expiring_tables import MARKED, ids_of, write
from support.faulty_file_io import FaultyFileIO
from support.table_builder import BuiltTable, build_table

COUNT = 40


def written() -> BuiltTable:
    """Forty snapshots, each tenth an overwrite."""
    built = build_table(MARKED)
    write(built, 1)
    parts = built.table.parts()
    first = parts.snapshots.load(1)
    for each in range(2, COUNT + 1):
        put(built.table, each, uuid=f"u{each}", is_overwrite=not each % 10)
    assert first.commit_kind is CommitKind.APPEND
    return built


def put(table: Table, snapshot_id: int, *, uuid: str, is_overwrite: bool) -> None:
    parts = table.parts()
    kind = CommitKind.OVERWRITE if is_overwrite else CommitKind.APPEND
    snapshot = changed(parts.snapshots.load(1), id=snapshot_id, uuid=uuid, commit_kind=kind)
    table.file_io.write(parts.paths.snapshot(snapshot_id), snapshot.to_json())


def overwrites(table: Table, first: int, last: int = COUNT) -> list[int]:
    found = overwrites_among(table.parts(), range(first, last + 1), spread=map)
    return [each.id for each in found]


def reads(built: BuiltTable, first: int, last: int = COUNT) -> int:
    counting = FaultyFileIO(built.file_io, 0, counts_reads=True)
    overwrites(reopen(built.table, counting), first, last)
    return counting.calls


def test_a_snapshot_is_read_once_and_overwrites_each_time() -> None:
    built = written()
    assert overwrites(built.table, 2) == [10, 20, 30, 40]
    assert reads(built, 3) == 2 + 4
    assert reads(built, 11) == 2 + 3
    put(built.table, COUNT + 1, uuid="new", is_overwrite=True)
    assert reads(built, 11, COUNT + 1) == 2 + 4
    assert overwrites(built.table, 11, COUNT + 1) == [20, 30, 40, 41]


def test_the_hint_is_not_believed_after_a_rollback_below_what_it_knows() -> None:
    built = written()
    overwrites(built.table, 2)
    for each in range(25, COUNT + 1):
        put(built.table, each, uuid=f"again {each}", is_overwrite=each == 26)
    assert overwrites(built.table, 2) == [10, 20, 26]
    for each in range(12, COUNT + 1):
        built.file_io.delete(built.table.parts().paths.snapshot(each))
    assert overwrites(built.table, 2, 11) == [10]


def test_a_damaged_hint_is_as_none() -> None:
    built = written()
    overwrites(built.table, 2)
    path = built.table.parts().paths.overwrites_hint
    for data in (b"", b"[]", b'{"snapshot": "40"}', b'{"snapshot": 40, "overwrites": 7}'):
        built.file_io.write(path, data)
        assert overwrites(built.table, 2) == [10, 20, 30, 40]


def test_an_expiry_reads_few_of_many_kept_snapshots() -> None:
    built = written()
    calls = []
    for kept in (COUNT - 1, COUNT - 2):
        counting = FaultyFileIO(built.file_io, 0, counts_reads=True)
        table = reopen(built.table, counting, seed=kept)
        assert table.expire_snapshots(retain_max=kept, retain_min=kept) == 1
        calls.append(counting.calls)
    assert ids_of(built.table)[0] == 3
    assert calls[1] < calls[0] - 25
