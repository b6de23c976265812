"""How do the rows of one key become one row?

The options of merging as typed values, those of single columns by column.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakebed.options import values
from lakebed.options.catalogue import TABLE_OPTIONS
from lakebed.options.choices import MergeEngine
from lakebed.options.option import key_pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeOptions:
    """Options of a primary-key table's merge engine.

    Attributes:
        engine: `merge-engine`.
        ignore_delete: `ignore-delete`.
        sequence_fields: `sequence.field`, most significant first.
        descending: Whether `sequence.field.sort-order` is `descending`.
        remove_record_on_delete: The option of that name of the engine.
        removing_sequence_fields: `partial-update.remove-record-on-sequence-group`.
        sequence_groups: `fields.<sequence fields>.sequence-group`: members by sequence fields.
        default_function: `fields.default-aggregate-function`.
        functions: `fields.<f>.aggregate-function` by column.
        with_lookup: Whether compaction looks older rows up: `changelog-producer=lookup`,
            `deletion-vectors.enabled` or `force-lookup`.
        field_options: Other `fields.<f>.<option>` by option, then by column, as text.
    """

    engine: MergeEngine
    ignore_delete: bool
    sequence_fields: tuple[str, ...]
    descending: bool
    remove_record_on_delete: bool
    removing_sequence_fields: tuple[str, ...]
    sequence_groups: Mapping[tuple[str, ...], tuple[str, ...]] = field(hash=False)
    default_function: str | None
    functions: Mapping[str, str] = field(hash=False)
    with_lookup: bool
    field_options: Mapping[str, Mapping[str, str]] = field(hash=False)

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> "MergeOptions":
        """The options that hold; old keys count too.

        Raises:
            InvalidArgumentError: A text is no value of its option.
        """
        given = TABLE_OPTIONS.with_current_keys(options)
        engine = values.parse_member(
            given.get("merge-engine", "deduplicate"), "merge-engine", of=MergeEngine
        )
        removing = f"{engine.value}.remove-record-on-delete"
        groups = _family(given, "sequence-group")
        return cls(
            engine=engine,
            ignore_delete=_flag(given, "ignore-delete"),
            sequence_fields=_names(given, "sequence.field"),
            descending=given.get("sequence.field.sort-order", "ascending") == "descending",
            remove_record_on_delete=_flag(given, removing),
            removing_sequence_fields=_names(
                given, "partial-update.remove-record-on-sequence-group"
            ),
            sequence_groups={
                values.parse_names(fields, "sequence-group"): values.parse_names(text, fields)
                for fields, text in groups.items()
            },
            default_function=given.get("fields.default-aggregate-function"),
            functions=_family(given, "aggregate-function"),
            with_lookup=given.get("changelog-producer", "none").lower() == "lookup"
            or _flag(given, "deletion-vectors.enabled")
            or _flag(given, "force-lookup"),
            field_options={option: _family(given, option) for option in _FIELD_OPTIONS},
        )


_FIELD_OPTIONS = (
    "ignore-retract",
    "distinct",
    "list-agg-delimiter",
    "nested-key",
    "nested-key-null-strategy",
    "nested-sequence-field",
    "count-limit",
    "ts-field",
)


def _flag(given: Mapping[str, str], key: str) -> bool:
    return values.parse_boolean(given.get(key, "false"), key)


def _names(given: Mapping[str, str], key: str) -> tuple[str, ...]:
    return values.parse_names(given[key], key) if key in given else ()


def _family(given: Mapping[str, str], option: str) -> dict[str, str]:
    """Texts of `fields.<f>.<option>` by `<f>`."""
    pattern = key_pattern(f"fields.<f>.{option}")
    return {
        key.removeprefix("fields.").removesuffix(f".{option}"): text
        for key, text in given.items()
        if pattern.fullmatch(key)
    }
