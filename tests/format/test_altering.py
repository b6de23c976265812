"""What each change makes of a schema, and which changes are refused: the rules of Paimon."""

from collections.abc import Mapping, Sequence

import pytest

from lakebed.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    InvalidTableError,
    LakebedError,
    NotFoundError,
)
from lakebed.format.altering.apply import altered
from lakebed.format.altering.changes import (
    AddColumn,
    After,
    Before,
    ChangeColumnComment,
    ChangeColumnDefault,
    ChangeColumnNullability,
    ChangeColumnPosition,
    ChangeColumnType,
    DropColumn,
    First,
    Last,
    RemoveOption,
    RenameColumn,
    SchemaChange,
    SetComment,
    SetOption,
)
from lakebed.format.schema import TableSchema
from lakebed.format.schema_builder import build_schema
from lakebed.format.schema_definition import schema
from lakebed.format.type_text import format_type
from lakebed.format.types import DataField, RowType

COLUMNS = [
    ("id", "BIGINT NOT NULL"),
    ("v", "INT"),
    ("r", "ROW<a INT, b STRING>"),
    ("xs", "ARRAY<ROW<x INT>>"),
    ("m", "MAP<STRING, ARRAY<INT>>"),
    ("dt", "STRING NOT NULL"),
]


def keyed(options: Mapping[str, str] | None = None) -> TableSchema:
    return build_schema(
        schema(COLUMNS).fields,
        options={"bucket": "2", **(options or {})},
        time_millis=0,
        primary_keys=("dt", "id"),
        partition_keys=("dt",),
    )


def bucketed() -> TableSchema:
    options = {"bucket": "2", "bucket-key": "id"}
    return build_schema(schema(COLUMNS).fields, options=options, time_millis=0)


def shown(fields: Sequence[DataField]) -> str:
    return ", ".join(f"{field.id} {field.name}" for field in fields)


def test_ids_are_those_of_the_first_schema() -> None:
    assert shown(keyed().fields) == "0 id, 1 v, 2 r, 5 xs, 7 m, 8 dt"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([AddColumn("n", "INT")], "0 id, 1 v, 2 r, 5 xs, 7 m, 8 dt, 9 n"),
        ([AddColumn("n", "INT", position=First())], "9 n, 0 id, 1 v, 2 r, 5 xs, 7 m, 8 dt"),
        ([AddColumn("n", "INT", position=Last())], "0 id, 1 v, 2 r, 5 xs, 7 m, 8 dt, 9 n"),
        ([AddColumn("n", "INT", position=After("v"))], "0 id, 1 v, 9 n, 2 r, 5 xs, 7 m, 8 dt"),
        ([AddColumn("n", "INT", position=Before("v"))], "0 id, 9 n, 1 v, 2 r, 5 xs, 7 m, 8 dt"),
        # An id goes with its column, and never comes back.
        ([DropColumn("v"), AddColumn("v", "INT")], "0 id, 2 r, 5 xs, 7 m, 8 dt, 9 v"),
        (
            [AddColumn("n", "ROW<p INT, q INT>"), AddColumn("o", "INT")],
            "0 id, 1 v, 2 r, 5 xs, 7 m, 8 dt, 9 n, 12 o",
        ),
        ([RenameColumn("v", "w")], "0 id, 1 w, 2 r, 5 xs, 7 m, 8 dt"),
        ([RenameColumn("v", "w"), RenameColumn("w", "v")], None),
        ([ChangeColumnPosition("v", First())], "1 v, 0 id, 2 r, 5 xs, 7 m, 8 dt"),
        ([ChangeColumnPosition("v", Last())], "0 id, 2 r, 5 xs, 7 m, 8 dt, 1 v"),
        ([ChangeColumnPosition("v", After("m"))], "0 id, 2 r, 5 xs, 7 m, 1 v, 8 dt"),
        ([ChangeColumnPosition("dt", Before("r"))], "0 id, 1 v, 8 dt, 2 r, 5 xs, 7 m"),
        ([ChangeColumnPosition("id", First())], None),
        ([SetComment(None), SetOption("bucket", 2), RemoveOption("file.format")], None),
        ([], None),
    ],
)
def test_columns_keep_their_ids_in_every_order(
    changes: list[SchemaChange], expected: str | None
) -> None:
    before = keyed()
    after = altered(before, changes, has_snapshots=True)
    if expected is None:
        assert after is before
    else:
        assert shown(after.fields) == expected
        assert after.id == 1


@pytest.mark.parametrize(
    ("change", "column", "expected"),
    [
        (ChangeColumnType("v", "BIGINT"), "v", "BIGINT"),
        (ChangeColumnType("v", "STRING"), "v", "STRING"),
        (ChangeColumnType("v", "TINYINT"), "v", "TINYINT"),
        (ChangeColumnType(("r", "a"), "DOUBLE"), "r", "ROW<`a` DOUBLE, `b` STRING>"),
        (ChangeColumnType("r", "STRING"), "r", "STRING"),
        (ChangeColumnType(("xs", "element", "x"), "BIGINT"), "xs", "ARRAY<ROW<`x` BIGINT>>"),
        (
            ChangeColumnType(("m", "value", "element"), "BIGINT"),
            "m",
            "MAP<STRING, ARRAY<BIGINT>>",
        ),
        (AddColumn(("r", "c"), "DATE"), "r", "ROW<`a` INT, `b` STRING, `c` DATE>"),
        (
            AddColumn(("r", "c"), "DATE", position=After("a")),
            "r",
            "ROW<`a` INT, `c` DATE, `b` STRING>",
        ),
        (AddColumn(("xs", "element", "y"), "INT"), "xs", "ARRAY<ROW<`x` INT, `y` INT>>"),
        (DropColumn(("r", "a")), "r", "ROW<`b` STRING>"),
        (RenameColumn(("r", "a"), "z"), "r", "ROW<`z` INT, `b` STRING>"),
        (ChangeColumnPosition(("r", "b"), First()), "r", "ROW<`b` STRING, `a` INT>"),
        (
            ChangeColumnNullability(("r", "a"), nullable=True),
            "r",
            "ROW<`a` INT, `b` STRING>",
        ),
    ],
)
def test_types_and_parts_change_by_their_path(
    change: SchemaChange, column: str, expected: str
) -> None:
    after = altered(keyed(), [change], has_snapshots=True)
    assert format_type(after.field(column).type) == expected


def test_nested_fields_get_ids_of_the_same_counter() -> None:
    after = altered(keyed(), [AddColumn(("r", "c"), "ROW<p INT>")], has_snapshots=True)
    nested = after.field("r").type
    assert isinstance(nested, RowType)
    assert shown(nested.fields) == "3 a, 4 b, 9 c"
    assert after.highest_field_id == 10


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (AddColumn("v", "INT"), AlreadyExistsError, "column 'v' already exists"),
        (AddColumn(("r", "a"), "INT"), AlreadyExistsError, r"'r\.a'"),
        (AddColumn("n", "INT NOT NULL"), InvalidTableError, "cannot be NOT NULL"),
        (AddColumn("n", "INT", position=After("no")), NotFoundError, "column 'no'"),
        (AddColumn(("no", "x"), "INT"), NotFoundError, "There are id, v"),
        (AddColumn(("v", "x"), "INT"), InvalidTableError, "'v' has none"),
        (AddColumn(("xs", "y"), "INT"), InvalidTableError, "no field of a ROW"),
        (AddColumn(("xs", "y", "z"), "INT"), NotFoundError, "named 'element'"),
        (AddColumn(("m", "key", "z"), "INT"), InvalidTableError, "keys of a MAP"),
        (AddColumn(("r", "c"), "INT", default="1"), InvalidTableError, "cannot have a default"),
        (AddColumn("_SEQUENCE_NUMBER", "INT"), InvalidTableError, "reserved"),
        (AddColumn("n", "INTEGRE"), InvalidArgumentError, "INTEGRE"),
        (AddColumn((), "INT"), InvalidArgumentError, "names no column"),
        (RenameColumn("no", "w"), NotFoundError, "column 'no'"),
        (RenameColumn("v", "r"), AlreadyExistsError, "column 'r'"),
        (RenameColumn(("r", "a"), "b"), AlreadyExistsError, r"'r\.b'"),
        (RenameColumn("dt", "day"), InvalidTableError, "partition column and cannot be renamed"),
        (DropColumn("no"), NotFoundError, "column 'no'"),
        (DropColumn("dt"), InvalidTableError, "partition column and cannot be dropped"),
        (DropColumn("id"), InvalidTableError, "in the primary key and cannot be dropped"),
        (DropColumn(("xs", "element", "x")), InvalidTableError, "would have nothing"),
        (DropColumn(("m", "value", "element")), InvalidTableError, "no field of a ROW"),
        (ChangeColumnType("no", "INT"), NotFoundError, "column 'no'"),
        (ChangeColumnType("dt", "INT"), InvalidTableError, "partition column"),
        (ChangeColumnType("id", "STRING"), InvalidTableError, "in the primary key"),
        (ChangeColumnType("v", "DATE"), InvalidTableError, "from INT to DATE"),
        (ChangeColumnType("v", "INT NOT NULL"), InvalidTableError, "keeps being nullable"),
        (ChangeColumnType("r", "ROW<a BIGINT>"), InvalidTableError, "name the part"),
        (ChangeColumnType("xs", "ARRAY<INT>"), InvalidTableError, "name the part"),
        (ChangeColumnType(("m", "key"), "INT"), InvalidTableError, "keys of a MAP"),
        (ChangeColumnNullability("v", nullable=False), InvalidTableError, "may have null"),
        (ChangeColumnNullability("id", nullable=True), InvalidTableError, "primary key"),
        (ChangeColumnComment("no", "x"), NotFoundError, "column 'no'"),
        (ChangeColumnComment(("m", "value"), "x"), InvalidTableError, "no field of a ROW"),
        (ChangeColumnPosition("v", After("v")), InvalidTableError, "next to itself"),
        (ChangeColumnPosition("v", After("no")), NotFoundError, "column 'no'"),
        (ChangeColumnPosition("no", First()), NotFoundError, "column 'no'"),
        (ChangeColumnDefault(("r", "a"), "1"), InvalidTableError, "cannot have a default"),
        (SetOption("comment", "x"), InvalidTableError, "SetComment"),
        (SetOption("path", "/x"), InvalidTableError, "stays where it is"),
        (SetOption("primary-key", "v"), InvalidTableError, "chosen when the table is made"),
        (SetOption("merge-engine", "aggregation"), InvalidTableError, "once the table has rows"),
        (SetOption("bucket-key", "id"), InvalidTableError, "once the table has rows"),
        (SetOption("force-lookup", "true"), InvalidTableError, "once the table has rows"),
        (SetOption("bucket", -1), InvalidTableError, "from or to -1"),
        (SetOption("deletion-vectors.enabled", value=True), InvalidTableError, "modifiable"),
        (RemoveOption("bucket"), InvalidTableError, "cannot be taken back"),
        (RemoveOption("write-buffr-size"), InvalidTableError, "Is it 'write-buffer-size'"),
    ],
)
def test_what_cannot_be_is_refused(
    change: SchemaChange, error: type[LakebedError], message: str
) -> None:
    with pytest.raises(error, match=message):
        altered(keyed(), [change], has_snapshots=True)


def test_a_value_that_is_no_change_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"lakebed\.changes"):
        altered(keyed(), ["ADD COLUMN"], has_snapshots=True)  # type: ignore[list-item]  # on purpose


def test_the_last_column_stays() -> None:
    one = build_schema(schema([("v", "INT")]).fields, options={}, time_millis=0)
    with pytest.raises(InvalidTableError, match="the table would have nothing"):
        altered(one, [DropColumn("v")], has_snapshots=False)
    swapped = altered(one, [AddColumn("w", "INT"), DropColumn("v")], has_snapshots=False)
    assert shown(swapped.fields) == "1 w"


def test_bucket_keys_are_renamed_and_keep_their_type() -> None:
    after = altered(bucketed(), [RenameColumn("id", "key")], has_snapshots=True)
    assert after.bucket_keys == ("key",)
    with pytest.raises(InvalidTableError, match="in the bucket key"):
        altered(bucketed(), [ChangeColumnType("id", "STRING")], has_snapshots=True)
    with pytest.raises(InvalidTableError, match="'bucket-key' names it"):
        altered(bucketed(), [DropColumn("id")], has_snapshots=True)


def test_columns_with_files_of_their_own_keep_name_and_type() -> None:
    indexed = keyed({"pk-btree.index.columns": "r, v"})
    changes: list[SchemaChange] = [RenameColumn("v", "w"), ChangeColumnType("v", "BIGINT")]
    for change in changes:
        with pytest.raises(InvalidTableError, match="indexed by key"):
            altered(indexed, [change], has_snapshots=True)
    with pytest.raises(InvalidTableError, match=r"'pk-btree\.index\.columns' names it"):
        altered(indexed, [DropColumn("v")], has_snapshots=True)
    blob = altered(keyed(), [AddColumn("b", "BLOB")], has_snapshots=True)
    with pytest.raises(InvalidTableError, match="a BLOB"):
        altered(blob, [RenameColumn("b", "c")], has_snapshots=True)
    with pytest.raises(InvalidTableError, match="from BLOB to BYTES"):
        altered(blob, [ChangeColumnType("b", "BYTES")], has_snapshots=True)


def test_a_renamed_column_is_renamed_in_keys_and_options() -> None:
    options = {
        "sequence.field": "v,r",
        "fields.v.aggregate-function": "sum",
        "fields.v,w.sequence-group": "r,v",
        "fields.default-aggregate-function": "v",
        "file-index.bloom-filter.columns": "r, v,m[v]",
        "file-index.bloom-filter.v.items": "9",
        "record-level.time-field": "v",
        "owner": "v",
    }
    after = altered(
        keyed(options), [RenameColumn("v", "n"), RenameColumn("id", "key")], has_snapshots=True
    )
    assert after.primary_keys == ("dt", "key")
    assert after.options == {
        "bucket": "2",
        "sequence.field": "n,r",
        "fields.n.aggregate-function": "sum",
        "fields.n,w.sequence-group": "r,n",
        "fields.default-aggregate-function": "v",
        "file-index.bloom-filter.columns": "r, n,m[v]",
        "file-index.bloom-filter.n.items": "9",
        "record-level.time-field": "n",
        "owner": "v",
    }
    nested = altered(
        keyed({"sequence.field": "r"}), [RenameColumn(("r", "a"), "r")], has_snapshots=True
    )
    assert nested.options["sequence.field"] == "r"


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        ({"sequence.field": "v"}, [RemoveOption("sequence.field"), DropColumn("v")]),
        ({"sequence.field": "v"}, [DropColumn("v"), SetOption("sequence.field", "r")]),
        ({"sequence.field": "v"}, [DropColumn("v"), AddColumn("v", "BIGINT")]),
    ],
)
def test_a_column_that_an_option_names_goes_with_the_option(
    options: dict[str, str], changes: list[SchemaChange]
) -> None:
    with pytest.raises(InvalidTableError, match=r"'sequence\.field' names it"):
        altered(keyed(options), [DropColumn("v")], has_snapshots=True)
    assert 1 not in [f.id for f in altered(keyed(options), changes, has_snapshots=True).fields]


@pytest.mark.parametrize(
    ("options", "change", "expected"),
    [
        ({}, SetOption("bucket", 4), {"bucket": "4"}),
        (
            {"ignore-delete": "false"},
            SetOption("ignore-delete", value=True),
            {"bucket": "2", "ignore-delete": "true"},
        ),
        (
            {"deletion-vectors.modifiable": "true"},
            SetOption("deletion-vectors.enabled", value=True),
            {
                "bucket": "2",
                "deletion-vectors.modifiable": "true",
                "deletion-vectors.enabled": "true",
            },
        ),
        # The name of former days makes way for that of today.
        (
            {"sink.clustering.by-columns": "v"},
            SetOption("clustering.columns", "r"),
            {"bucket": "2", "clustering.columns": "r"},
        ),
        ({"sink.clustering.by-columns": "v"}, RemoveOption("clustering.columns"), {"bucket": "2"}),
        ({"file.format": "orc"}, RemoveOption("file.format"), {"bucket": "2"}),
        ({"from-elsewhere": "1"}, RemoveOption("from-elsewhere"), {"bucket": "2"}),
    ],
)
def test_options_change(
    options: dict[str, str], change: SchemaChange, expected: dict[str, str]
) -> None:
    assert altered(keyed(options), [change], has_snapshots=True).options == expected


def test_an_option_goes_from_false_to_true_only() -> None:
    for change in (SetOption("ignore-delete", value=False), RemoveOption("ignore-delete")):
        with pytest.raises(InvalidTableError, match="from true to false"):
            altered(keyed({"ignore-delete": "true"}), [change], has_snapshots=True)


def test_before_the_first_snapshot_nothing_is_fixed_but_what_the_table_is() -> None:
    change = [SetOption("merge-engine", "aggregation"), SetOption("bucket", -1)]
    after = altered(keyed(), change, has_snapshots=False)
    assert after.options == {"merge-engine": "aggregation", "bucket": "-1"}
    for key in ("type", "primary-key", "partition", "path"):
        with pytest.raises(InvalidTableError, match="does not change"):
            altered(keyed(), [SetOption(key, "x")], has_snapshots=False)


def test_options_of_the_table_rule_its_changes() -> None:
    with pytest.raises(InvalidTableError, match="without losing something"):
        altered(
            keyed({"disable-explicit-type-casting": "true"}),
            [ChangeColumnType("v", "TINYINT")],
            has_snapshots=True,
        )
    allowed = keyed({"alter-column-null-to-not-null.disabled": "false"})
    after = altered(allowed, [ChangeColumnNullability("v", nullable=False)], has_snapshots=True)
    assert format_type(after.field("v").type) == "INT NOT NULL"
    first = keyed({"add-column-before-partition": "true"})
    after = altered(
        first, [AddColumn("n", "INT"), AddColumn(("r", "c"), "INT")], has_snapshots=True
    )
    assert shown(after.fields) == "0 id, 1 v, 2 r, 5 xs, 7 m, 9 n, 8 dt"


def test_a_type_keeps_its_nullability_and_a_schema_of_old_becomes_one_of_today() -> None:
    fields = schema([("v", "INT NOT NULL")]).fields
    old = TableSchema(version=1, id=3, fields=fields, highest_field_id=0, options={"bucket": "-1"})
    changes = [ChangeColumnType("v", "BIGINT"), ChangeColumnComment("v", "c"), SetComment("t")]
    after = altered(old, changes, has_snapshots=True)
    assert (after.version, after.id, after.comment) == (3, 4, "t")
    assert format_type(after.field("v").type) == "BIGINT NOT NULL"
    assert after.field("v").description == "c"
