"""What a table's schema becomes when rows with other columns are written to it; no Spark needed."""

import pytest

from lakebed.errors import InvalidTableError
from lakebed.format.schema import TableSchema
from lakebed.format.schema_builder import build_schema
from lakebed.format.schema_definition import schema as columns_of
from lakebed.format.type_text import format_type
from lakebed.spark.schema_merging import SchemaMerging, TypesDifferError

ADD = SchemaMerging()
WIDEN = SchemaMerging(widens=True)
CAST = SchemaMerging(widens=True, casts=True)


def table(
    *columns: tuple[str, str], primary: tuple[str, ...] = (), partition: tuple[str, ...] = ()
) -> TableSchema:
    fields = columns_of(columns).fields
    return build_schema(
        fields, options={}, time_millis=0, primary_keys=primary, partition_keys=partition
    )


def merged(how: SchemaMerging, own: TableSchema, *given: tuple[str, str]) -> TableSchema:
    return how.merge(own, columns_of(given).fields)


def test_new_columns_come_last_nullable_and_with_new_ids() -> None:
    own = table(("id", "INT NOT NULL"), ("row", "ROW<a INT, b INT>"))
    after = merged(
        ADD,
        own,
        ("fresh", "STRING NOT NULL"),
        ("row", "ROW<b INT, extra ROW<x INT NOT NULL>>"),
        ("ID", "INT"),
    )
    assert after.id == own.id + 1
    assert [(field.id, field.name, format_type(field.type)) for field in after.fields] == [
        (0, "id", "INT NOT NULL"),
        (1, "row", "ROW<`a` INT, `b` INT, `extra` ROW<`x` INT NOT NULL>>"),
        (6, "fresh", "STRING"),
    ]
    assert after.highest_field_id == 6


def test_rows_that_fit_change_nothing() -> None:
    own = table(("id", "INT NOT NULL"), ("name", "VARCHAR(5)"), ("at", "TIMESTAMP(3)"))
    assert merged(ADD, own, ("name", "STRING"), ("at", "TIMESTAMP(6)"), ("id", "BIGINT")) is own
    assert merged(WIDEN, own, ("id", "INT")) is own


@pytest.mark.parametrize(
    ("own", "given", "widened", "cast"),
    [
        ("INT", "BIGINT", "BIGINT", "BIGINT"),
        ("INT NOT NULL", "BIGINT", "BIGINT NOT NULL", "BIGINT NOT NULL"),
        ("BIGINT", "INT", "BIGINT", "INT"),
        ("FLOAT", "DOUBLE", "DOUBLE", "DOUBLE"),
        ("VARCHAR(5)", "STRING", "STRING", "STRING"),
        ("CHAR(5)", "STRING", "STRING", "STRING"),
        ("VARCHAR(5)", "VARCHAR(3)", "VARCHAR(5)", "VARCHAR(3)"),
        ("DECIMAL(9, 2)", "DECIMAL(12, 2)", "DECIMAL(12, 2)", "DECIMAL(12, 2)"),
        ("DECIMAL(12, 2)", "DECIMAL(9, 2)", "DECIMAL(12, 2)", "DECIMAL(12, 2)"),
        ("DECIMAL(9, 2)", "DECIMAL(12, 3)", None, None),
        ("TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP(6)", "TIMESTAMP(6)"),
        ("TIMESTAMP(6)", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP(3)"),
        ("STRING", "DATE", None, "DATE"),
        ("INT", "BOOLEAN", None, "BOOLEAN"),
        ("INT", "ARRAY<INT>", None, None),
        ("ROW<a INT>", "ROW<a BIGINT>", "ROW<`a` BIGINT>", "ROW<`a` BIGINT>"),
        ("ARRAY<INT>", "ARRAY<BIGINT>", None, None),
        ("MAP<INT, INT>", "MAP<INT, BIGINT>", None, None),
        (
            "ARRAY<ROW<a INT>>",
            "ARRAY<ROW<a INT, b INT>>",
            "ARRAY<ROW<`a` INT, `b` INT>>",
            "ARRAY<ROW<`a` INT, `b` INT>>",
        ),
    ],
)
def test_types_change_as_far_as_is_asked_for(
    *, own: str, given: str, widened: str | None, cast: str | None
) -> None:
    before = table(("id", "INT"), ("c", own))
    for how, expected in ((WIDEN, widened), (CAST, cast)):
        if expected is None:
            with pytest.raises(TypesDifferError):
                merged(how, before, ("c", given))
        else:
            assert format_type(merged(how, before, ("c", given)).field("c").type) == expected


def test_key_columns_keep_their_types() -> None:
    columns = (("k", "INT"), ("v", "INT"))
    bucketed = build_schema(
        columns_of(columns).fields, options={"bucket": "2", "bucket-key": "k"}, time_millis=0
    )
    for own in (table(*columns, primary=("k",)), table(*columns, partition=("k",)), bucketed):
        with pytest.raises(TypesDifferError, match="column 'k' is INT in the table and BIGINT"):
            merged(WIDEN, own, ("k", "BIGINT"), ("v", "INT"))


def test_a_new_column_needs_a_name_that_a_column_can_have() -> None:
    with pytest.raises(InvalidTableError, match="reserved"):
        merged(ADD, table(("id", "INT")), ("_KEY_id", "INT"))


def test_names_that_differ_in_case_are_two_columns_where_case_counts() -> None:
    exact = SchemaMerging(is_case_sensitive=True)
    assert merged(exact, table(("id", "INT")), ("ID", "INT")).names == ["id", "ID"]
