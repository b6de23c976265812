"""From a table's options to its merge engine.

`deduplicate` and `first-row` pick one of a key's rows and need no values (`winners`);
`partial-update` and `aggregation` make a row of all (`folding`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lakebed.errors import InvalidTableError, UnsupportedError
from lakebed.format.schema import TableSchema
from lakebed.format.types import DataField
from lakebed.lsm.aggregation import Aggregation
from lakebed.lsm.folding import FoldingEngine
from lakebed.lsm.functions.columns import ColumnFunction, column_function
from lakebed.lsm.functions.groups import FieldOptions
from lakebed.lsm.merge import Pick, deduplicate, deduplicate_adds, first_add, first_row
from lakebed.lsm.partial_update import PartialUpdate
from lakebed.lsm.section_plan import RowOrder
from lakebed.lsm.sequence_groups import SequenceGroup
from lakebed.options.choices import MergeEngine
from lakebed.options.merge_options import MergeOptions
from lakebed.options.values import parse_boolean, parse_integer, parse_names

_DEFAULT_FUNCTION = "last_non_null_value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Picking:
    """A merge whose results are rows that are there.

    Attributes:
        order: How rows are ordered by key and age.
        pick: Which row of a key wins.
    """

    order: RowOrder
    pick: Pick


@dataclass(frozen=True, slots=True, kw_only=True)
class Folding:
    """A merge that makes rows.

    Attributes:
        order: How rows are ordered by key and age.
        engine: What makes one row of those of a key.
        with_lookup: Whether compaction looks older rows up (`folding.folded_rows`).
    """

    order: RowOrder
    engine: FoldingEngine
    with_lookup: bool


def merging_of(schema: TableSchema, options: Mapping[str, str]) -> Picking | Folding:
    """How the rows of a primary-key table merge.

    Args:
        schema: Its columns and keys.
        options: Its options, with those of a scan laid over them.

    Raises:
        InvalidArgumentError: A text is no value of its option.
        InvalidTableError: Options that contradict each other or name no column.
        UnsupportedError: A function that Lakebed lacks.
    """
    given = MergeOptions.parse(options)
    _check_names(given.sequence_fields, set(schema.names), "sequence.field")
    order = RowOrder(
        key_names=schema.trimmed_primary_keys,
        sequence_fields=given.sequence_fields,
        descending=given.descending,
    )
    if given.engine is MergeEngine.AGGREGATION:
        engine: FoldingEngine = _aggregation(schema, given)
        return Folding(order=order, engine=engine, with_lookup=given.with_lookup)
    if given.engine is MergeEngine.PARTIAL_UPDATE:
        engine = _partial_update(schema, given)
        return Folding(order=order, engine=engine, with_lookup=given.with_lookup)
    if given.engine is MergeEngine.FIRST_ROW:
        return Picking(order=order, pick=first_add if given.ignore_delete else first_row)
    return Picking(order=order, pick=deduplicate_adds if given.ignore_delete else deduplicate)


def _aggregation(schema: TableSchema, given: MergeOptions) -> Aggregation:
    functions: dict[str, ColumnFunction] = {}
    for field in schema.fields:
        if field.name in schema.primary_keys:
            continue
        name = given.functions.get(field.name, given.default_function) or _DEFAULT_FUNCTION
        if field.name in given.sequence_fields:
            name = "last_value"
        functions[field.name] = _function(field, name, given)
    return Aggregation(
        key_names=frozenset(schema.primary_keys),
        functions=functions,
        remove_record_on_delete=given.remove_record_on_delete,
    )


def _partial_update(schema: TableSchema, given: MergeOptions) -> PartialUpdate:
    groups = _sequence_groups(schema, given)
    members = {name for group in groups for name in group.members}
    sequence_fields = {name for group in groups for name in group.sequence_fields}
    functions: dict[str, ColumnFunction] = {}
    for field in schema.fields:
        name = given.functions.get(field.name, given.default_function)
        if name is None or field.name in sequence_fields or field.name in schema.primary_keys:
            continue
        if field.name in members:
            functions[field.name] = _function(field, name, given)
            if name == "nested_update" and "count-limit" in _given_of(field, given):
                raise UnsupportedError(
                    f"column {field.name!r}: aggregate-function=nested_update with a count-limit "
                    "is not supported in a sequence group: which rows stay would depend on the "
                    "order in which they came"
                )
        elif name != _DEFAULT_FUNCTION:
            raise InvalidTableError(
                f"column {field.name!r}: aggregate-function={name} needs a sequence group in a "
                "table of merge-engine=partial-update, and the column is in none"
            )
    if given.ignore_delete and (given.remove_record_on_delete or given.removing_sequence_fields):
        raise InvalidTableError("ignore-delete contradicts partial-update.remove-record-on-*")
    if given.remove_record_on_delete and groups:
        raise InvalidTableError(
            "partial-update.remove-record-on-delete contradicts a sequence group; "
            "partial-update.remove-record-on-sequence-group goes with one"
        )
    return PartialUpdate(
        key_names=frozenset(schema.primary_keys),
        groups=groups,
        functions=functions,
        ignore_delete=given.ignore_delete,
        remove_record_on_delete=given.remove_record_on_delete,
    )


def _given_of(field: DataField, given: MergeOptions) -> set[str]:
    return {option for option, of in given.field_options.items() if field.name in of}


def _sequence_groups(schema: TableSchema, given: MergeOptions) -> tuple[SequenceGroup, ...]:
    seen: set[str] = set()
    groups: list[SequenceGroup] = []
    for fields, members in given.sequence_groups.items():
        key = f"fields.{','.join(fields)}.sequence-group"
        _check_names((*fields, *members), set(schema.names), key)
        twice = seen.intersection(members) or set(members).intersection(schema.primary_keys)
        if twice:
            raise InvalidTableError(
                f"{key}: column {min(twice)!r} is in another group or in the primary key"
            )
        seen |= set(members)
        groups.append(
            SequenceGroup(
                sequence_fields=fields,
                members=tuple(name for name in members if name not in fields),
                removes_record=bool(set(fields).intersection(given.removing_sequence_fields)),
            )
        )
    of_groups = {name for group in groups for name in group.sequence_fields}
    _check_names(
        given.removing_sequence_fields,
        of_groups,
        "partial-update.remove-record-on-sequence-group",
    )
    return tuple(groups)


def _check_names(names: tuple[str, ...], known: set[str], key: str) -> None:
    for name in names:
        if name not in known:
            raise InvalidTableError(f"{key} names {name!r}; there are {', '.join(sorted(known))}")


def _function(field: DataField, name: str, given: MergeOptions) -> ColumnFunction:
    texts = {option: of.get(field.name) for option, of in given.field_options.items()}
    key = f"fields.{field.name}"

    def flag(option: str) -> bool:
        return parse_boolean(texts[option] or "false", f"{key}.{option}")

    def names_of(option: str) -> tuple[str, ...]:
        text = texts[option]
        return () if text is None else parse_names(text, f"{key}.{option}")

    limit = texts["count-limit"]
    defaults = FieldOptions()
    options = FieldOptions(
        ignore_retract=flag("ignore-retract"),
        distinct=flag("distinct"),
        delimiter=defaults.delimiter
        if texts["list-agg-delimiter"] is None
        else texts["list-agg-delimiter"],
        nested_key=names_of("nested-key"),
        nested_key_null_strategy=texts["nested-key-null-strategy"]
        or defaults.nested_key_null_strategy,
        nested_sequence_field=names_of("nested-sequence-field"),
        count_limit=defaults.count_limit
        if limit is None
        else parse_integer(limit, f"{key}.count-limit"),
        ts_field=texts["ts-field"] or defaults.ts_field,
    )
    return column_function(name, field, options)
