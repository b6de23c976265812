"""A table whose schema changes: old files read rightly, and new ones are written beside them."""

from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakebed.catalog.filesystem import FilesystemCatalog
from lakebed.errors import (
    AlreadyExistsError,
    CommitConflictError,
    InvalidTableError,
    NotFoundError,
    StorageError,
    UnsupportedError,
)
from lakebed.format.altering.changes import (
    AddColumn,
    After,
    ChangeColumnComment,
    ChangeColumnDefault,
    ChangeColumnPosition,
    ChangeColumnType,
    DropColumn,
    First,
    RemoveOption,
    RenameColumn,
    SchemaChange,
    SetComment,
    SetOption,
)
from lakebed.format.schema import TableSchema
from lakebed.format.schema_definition import schema
from lakebed.storage.file_io import FileIO, PutResult
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.altering import evolve_table
from lakebed.table.table import Table
from support.effects import open_catalog
from support.faulty_file_io import FaultyFileIO

Row = dict[str, Any]
COLUMNS = [
    ("id", "BIGINT NOT NULL"),
    ("v", "INT"),
    ("r", "ROW<a INT, b STRING>"),
    ("xs", "ARRAY<ROW<x INT>>"),
    ("dt", "STRING"),
]
KINDS = {
    "keyed": {"primary_key": ["id"], "options": {"bucket": 2}},
    "partitioned": {"primary_key": ["id", "dt"], "partition_by": ["dt"], "options": {"bucket": 1}},
    "append": {"options": {"bucket": -1}},
    "bucketed": {"options": {"bucket": 2, "bucket-key": "id"}},
    "orc": {"primary_key": ["id"], "options": {"bucket": 1, "file.format": "orc"}},
    "avro": {"primary_key": ["id"], "options": {"bucket": 1, "file.format": "avro"}},
    "vectors": {
        "primary_key": ["id"],
        "options": {"bucket": 1, "deletion-vectors.enabled": True},
    },
}


def make(kind: str) -> tuple[FilesystemCatalog, Table]:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    return catalog, catalog.create_table("db.t", schema=schema(COLUMNS), **KINDS[kind])  # type: ignore[arg-type]  # as each kind has it


def row(number: int) -> Row:
    return {
        "id": number,
        "v": number,
        "r": {"a": number, "b": f"b{number}"},
        "xs": [{"x": number}, {"x": None}],
        "dt": f"d{number % 2}",
    }


def read(table: Table) -> list[Row]:
    return sorted(
        table.scan().to_arrow().to_pylist(), key=lambda each: repr(sorted(each.items(), key=repr))
    )


@dataclass(frozen=True)
class Case:
    """A change, and what it makes of a row that was there."""

    change: SchemaChange
    before: Row
    after: Row


def _cases() -> list[Case]:
    old = row(7)

    def without(name: str) -> Row:
        return {key: value for key, value in old.items() if key != name}

    return [
        Case(AddColumn("n", "DATE", position=First()), old, {"n": None, **old}),
        Case(AddColumn(("r", "c"), "INT"), old, {**old, "r": {"a": 7, "b": "b7", "c": None}}),
        Case(
            AddColumn(("xs", "element", "y"), "STRING"),
            old,
            {**old, "xs": [{"x": 7, "y": None}, {"x": None, "y": None}]},
        ),
        Case(RenameColumn("v", "w"), old, {**without("v"), "w": 7}),
        Case(RenameColumn(("r", "a"), "z"), old, {**old, "r": {"z": 7, "b": "b7"}}),
        Case(DropColumn("v"), old, without("v")),
        Case(DropColumn(("r", "a")), old, {**old, "r": {"b": "b7"}}),
        Case(ChangeColumnType("v", "BIGINT"), old, old),
        Case(ChangeColumnType("v", "STRING"), old, {**old, "v": "7"}),
        Case(ChangeColumnType(("r", "a"), "STRING"), old, {**old, "r": {"a": "7", "b": "b7"}}),
        Case(
            ChangeColumnType(("xs", "element", "x"), "BIGINT"),
            old,
            old,
        ),
        Case(ChangeColumnPosition("v", After("xs")), old, old),
        Case(ChangeColumnPosition(("r", "b"), First()), old, old),
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", _cases(), ids=lambda case: repr(case.change))
def test_old_rows_are_read_through_each_change_and_compacted_with_new_ones(
    kind: str, case: Case
) -> None:
    catalog, table = make(kind)
    table.append(pa.Table.from_pylist([case.before, row(3)], table.scan().schema))
    changed = catalog.alter_table("db.t", [case.change])
    assert changed.schema == catalog.load_table("db.t").schema
    others = [each for each in read(changed) if each["id"] == 7]
    assert others == [case.after]
    assert changed.scan(where="id = 7").count() == 1
    # Written with the new schema, then merged with the old files.
    new = {**case.after, "id": 8}
    changed.append(pa.Table.from_pylist([new], changed.scan().schema))
    before = read(changed)
    assert new in before
    changed.compact()
    assert read(changed) == before


def test_a_key_column_is_renamed_with_its_rows() -> None:
    catalog, table = make("keyed")
    table.append(pa.Table.from_pylist([row(1), row(2)], table.scan().schema))
    changed = catalog.alter_table("db.t", [RenameColumn("id", "key")])
    assert changed.primary_keys == ["key"]
    again = {**{key: value for key, value in row(2).items() if key != "id"}, "key": 2, "v": 99}
    changed.upsert(pa.Table.from_pylist([again], changed.scan().schema))
    assert {each["key"]: each["v"] for each in read(changed)} == {1: 1, 2: 99}
    changed.delete("key = 1")
    changed.compact()
    assert {each["key"]: each["v"] for each in read(changed)} == {2: 99}


def test_a_column_of_a_name_that_was_dropped_has_none_of_its_values() -> None:
    catalog, table = make("append")
    table.append(pa.Table.from_pylist([row(1)], table.scan().schema))
    catalog.alter_table("db.t", [DropColumn("v")])
    changed = catalog.alter_table("db.t", [AddColumn("v", "INT")])
    assert changed.schema.highest_field_id > table.schema.highest_field_id
    assert [each["v"] for each in read(changed)] == [None]


def test_a_default_is_for_new_rows_alone() -> None:
    catalog, table = make("append")
    table.append(pa.Table.from_pylist([row(1)], table.scan().schema))
    changes = [ChangeColumnDefault("v", "5"), AddColumn("s", "STRING", default="'x'")]
    changed = catalog.alter_table("db.t", changes)
    changed.append(pa.table({"id": [2]}))
    found = changed.scan(["id", "v", "s"]).to_arrow().sort_by("id").to_pylist()
    assert found == [{"id": 1, "v": 1, "s": None}, {"id": 2, "v": 5, "s": "x"}]
    for change in (ChangeColumnDefault("v", "five"), ChangeColumnType("s", "INT")):
        with pytest.raises(InvalidTableError, match="its default"):
            catalog.alter_table("db.t", [change])
    without = catalog.alter_table("db.t", [ChangeColumnDefault("v", None)])
    assert without.schema.field("v").default_value is None


def test_options_and_comments_change_in_the_schema() -> None:
    catalog, _ = make("keyed")
    changes = [
        SetOption("snapshot.num-retained.min", 3),
        SetComment("the table"),
        ChangeColumnComment("v", "a value"),
    ]
    changed = catalog.alter_table("db.t", changes)
    assert changed.options["snapshot.num-retained.min"] == "3"
    assert (changed.comment, changed.schema.field("v").description) == ("the table", "a value")
    changed = catalog.alter_table(
        "db.t", [RemoveOption("snapshot.num-retained.min"), SetComment(None)]
    )
    assert ("snapshot.num-retained.min" in changed.options, changed.comment) == (False, None)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ([SetOption("write-buffr-size", "1 mb")], InvalidTableError, "Is it 'write-buffer-size'"),
        ([SetOption("query-auth.enabled", value=True)], UnsupportedError, "not supported yet"),
        ([SetOption("sequence.field", "no")], InvalidTableError, "'no'"),
        ([SetOption("bucket", "many")], Exception, "many"),
        ([SetComment("c"), DropColumn("no")], NotFoundError, "column 'no'"),
    ],
)
def test_a_change_that_is_refused_leaves_the_table_as_it_was(
    changes: list[SchemaChange], error: type[Exception], message: str
) -> None:
    catalog, table = make("keyed")
    with pytest.raises(error, match=message):
        catalog.alter_table("db.t", changes)
    assert catalog.load_table("db.t").schema == table.schema


def test_nothing_is_written_where_nothing_changes() -> None:
    catalog, table = make("keyed")
    assert catalog.alter_table("db.t", []).schema == table.schema
    assert catalog.alter_table("db.t", [SetOption("bucket", 2)]).schema.id == 0
    assert table.parts().schemas.list_ids() == [0]


def test_an_option_of_another_engine_does_not_forbid_changes() -> None:
    catalog, table = make("keyed")
    options = {**table.options, "write-buffr-size": "1 mb"}
    table.parts().schemas.put(replace(table.schema, id=1, options=options))
    changed = catalog.alter_table("db.t", [SetOption("bucket", 4), AddColumn("n", "INT")])
    assert changed.schema.id == 2
    assert changed.options["write-buffr-size"] == "1 mb"


def test_a_branch_has_a_schema_of_its_own() -> None:
    catalog, table = make("keyed")
    table.append(pa.Table.from_pylist([row(1)], table.scan().schema))
    table.create_tag("t")
    table.create_branch("b", "t")
    changed = catalog.alter_table("db.t$branch_b", [AddColumn("n", "INT")])
    assert [each["n"] for each in read(changed)] == [None]
    assert "n" not in catalog.load_table("db.t").schema.names
    with pytest.raises(ValueError, match="system table"):
        catalog.alter_table("db.t$files", [AddColumn("n", "INT")])


def test_who_comes_second_changes_the_newer_schema() -> None:
    catalog, table = make("keyed")
    seen = []

    def next_schema(found: TableSchema) -> TableSchema:
        seen.append(found.id)
        if len(seen) == 1:
            catalog.alter_table("db.t", [SetComment("first")])
        return replace(found, id=found.id + 1, options={**found.options, "owner": "me"})

    changed = evolve_table(table, next_schema)
    assert seen == [0, 1]
    assert (changed.schema.id, changed.comment, changed.options["owner"]) == (2, "first", "me")


class _Answering(FaultyFileIO):
    """A store that gives one answer to every put."""

    def __init__(self, inner: FileIO, answer: PutResult) -> None:
        super().__init__(inner, 0)
        self._answer = answer

    def put_if_absent(self, path: str, data: bytes) -> PutResult:  # noqa: ARG002 - as of the store
        return self._answer


def test_a_store_that_does_not_say_is_an_error_and_others_forever_a_conflict() -> None:
    catalog, table = make("keyed")
    for result, error in (
        (PutResult.UNKNOWN, StorageError),
        (PutResult.PRESENT, CommitConflictError),
    ):
        store = _Answering(table.file_io, result)
        with pytest.raises(error):
            replace(catalog, file_io=store).alter_table("db.t", [SetComment("c")])


def test_two_columns_of_one_name_are_an_error() -> None:
    catalog, _ = make("keyed")
    with pytest.raises(AlreadyExistsError, match="column 'n'"):
        catalog.alter_table("db.t", [AddColumn("n", "INT"), AddColumn("n", "INT")])


WIDER = {"TINYINT": "SMALLINT", "SMALLINT": "INT", "INT": "BIGINT", "BIGINT": "STRING"}


@dataclass
class Model:
    """The rows of a table as a list of values by field id, and its columns by name."""

    columns: dict[str, tuple[int, str]]
    rows: dict[int, dict[int, Any]]
    next_id: int


@st.composite
def deeds(draw: st.DrawFn) -> list[tuple[str, int, int]]:
    kinds = ["add", "drop", "rename", "widen", "move", "write", "compact"]
    step = st.tuples(st.sampled_from(kinds), st.integers(0, 5), st.integers(0, 9))
    return draw(st.lists(step, min_size=1, max_size=12))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=deeds(), is_keyed=st.booleans())
def test_a_table_is_what_its_rows_were_through_any_changes(
    steps: list[tuple[str, int, int]], *, is_keyed: bool
) -> None:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    keys = {"primary_key": ["id"], "options": {"bucket": 1}} if is_keyed else {}
    table = catalog.create_table(
        "db.t",
        schema=schema([("id", "INT NOT NULL"), ("c0", "TINYINT")]),
        **keys,  # type: ignore[arg-type]  # as create_table takes them
    )
    model = Model(columns={"c0": (0, "TINYINT")}, rows={}, next_id=1)
    for number, (deed, place, value) in enumerate(steps):
        table = _act(catalog, table, model, deed=(deed, place, value + 10 * number))
        assert _found(table) == _modelled(model)
    table.compact()
    assert _found(table) == _modelled(model)


def _act(
    catalog: FilesystemCatalog, table: Table, model: Model, *, deed: tuple[str, int, int]
) -> Table:
    kind, place, value = deed
    names = list(model.columns)
    if kind == "write":
        _write(table, model, key=value)
        return table
    if kind == "compact":
        table.compact()
        return table
    if kind == "add" or not names:
        name = _free_name(model)
        model.columns[name] = (model.next_id, "TINYINT")
        model.next_id += 1
        return catalog.alter_table("db.t", [AddColumn(name, "TINYINT", position=First())])
    name = names[place % len(names)]
    field, typed = model.columns[name]
    change: SchemaChange
    match kind:
        case "drop":
            del model.columns[name]
            change = DropColumn(name)
        case "rename":
            new_name = _free_name(model)
            del model.columns[name]
            model.columns[new_name] = (field, typed)
            change = RenameColumn(name, new_name)
        case "widen" if typed in WIDER:
            model.columns[name] = (field, WIDER[typed])
            change = ChangeColumnType(name, WIDER[typed])
        case _:
            change = ChangeColumnPosition("id", After(name))
    return catalog.alter_table("db.t", [change])


def _free_name(model: Model) -> str:
    """One that a column had before, where there is such."""
    return next(name for name in (f"c{i}" for i in range(99)) if name not in model.columns)


def _write(table: Table, model: Model, *, key: int) -> None:
    key %= 20
    values = {
        name: (key if kind != "STRING" else str(key)) for name, (_, kind) in model.columns.items()
    }
    table.append(pa.Table.from_pylist([{"id": key, **values}], table.scan().schema))
    row = {field: key for field, _ in model.columns.values()}
    if table.primary_keys:
        model.rows[key] = row
    else:
        model.rows[1000 + len(model.rows)] = {-1: key, **row}


def _found(table: Table) -> list[str]:
    return sorted(repr(sorted(each.items())) for each in table.scan().to_arrow().to_pylist())


def _modelled(model: Model) -> list[str]:
    rows = []
    for key, values in model.rows.items():
        shown: Row = {"id": values.get(-1, key)}
        for name, (field, kind) in model.columns.items():
            value = values.get(field)
            shown[name] = str(value) if kind == "STRING" and value is not None else value
        rows.append(repr(sorted(shown.items())))
    return sorted(rows)
