"""Which options of a table may change, and when?

Before the first snapshot nothing depends on them, and all may but for what kind of table it is.
From then on those are fixed by which files were laid out, and rows merged.
"""

from collections.abc import Mapping

from lakebed.errors import InvalidTableError
from lakebed.format.schema_builder import BUCKET_OPTION, PARTITION_OPTION, PRIMARY_KEY_OPTION
from lakebed.options.acceptance import normalize
from lakebed.options.catalogue import TABLE_OPTIONS
from lakebed.options.values import OptionValue, parse_boolean

_NO_BUCKETS = "-1"
_VECTORS, _VECTORS_MODIFIABLE = "deletion-vectors.enabled", "deletion-vectors.modifiable"
_ONLY_ON = ("ignore-delete", "ignore-update-before")
_CLUSTERING, _KEY_CLUSTERING = "clustering.columns", "pk-clustering-override"
_REMEDIES: Mapping[str, str] = {
    "comment": "the table's comment is changed by SetComment",
    "path": "a table stays where it is",
    "type": "a table stays of its kind",
    PRIMARY_KEY_OPTION: "the primary key is chosen when the table is made",
    PARTITION_OPTION: "the partition columns are chosen when the table is made",
}

Options = Mapping[str, str]


def with_option(
    options: Options, key: str, value: OptionValue, *, has_snapshots: bool
) -> dict[str, str]:
    """Options with one set.

    Args:
        options: Those of the table.
        key: An option, by any of its names.
        value: Its value.
        has_snapshots: Whether the table was ever written.

    Raises:
        InvalidTableError: It cannot change, or not to that.
    """
    ((current, text),) = normalize({key: value}).items()
    before = TABLE_OPTIONS.with_current_keys(options)
    if before.get(current) == text:
        return dict(options)
    _check_changeable(current, text, before, has_snapshots=has_snapshots)
    return {**_without(options, current), current: text}


def without_option(options: Options, key: str, *, has_snapshots: bool) -> dict[str, str]:
    """Options without one; as they are where it is not set.

    Args:
        options: Those of the table.
        key: An option, by any of its names.
        has_snapshots: Whether the table was ever written.

    Raises:
        InvalidTableError: It cannot be taken back, or there is no such option.
    """
    current = TABLE_OPTIONS.current_key(key)
    before = TABLE_OPTIONS.with_current_keys(options)
    if current not in before and current not in _REMEDIES:
        if TABLE_OPTIONS.find(key) is None:
            raise InvalidTableError(TABLE_OPTIONS.unknown(key))
        return dict(options)
    _check_changeable(current, None, before, has_snapshots=has_snapshots)
    return _without(options, current)


def _without(options: Options, current: str) -> dict[str, str]:
    return {key: text for key, text in options.items() if TABLE_OPTIONS.current_key(key) != current}


def _check_changeable(key: str, text: str | None, before: Options, *, has_snapshots: bool) -> None:
    """Refuses a change; `text` is None where the option is taken back."""
    if key in _REMEDIES:
        raise InvalidTableError(f"option {key!r} does not change: {_REMEDIES[key]}")
    if not has_snapshots:
        return
    option = TABLE_OPTIONS.find(key)
    if option is not None and option.immutable:
        raise InvalidTableError(
            f"option {key!r} does not change once the table has rows; make another table"
        )
    if key == BUCKET_OPTION:
        _check_bucket(text, before)
    elif key == _VECTORS:
        _check_vectors(text, before)
    elif key in _ONLY_ON and _is_on(key, before.get(key)) and not _is_on(key, text):
        raise InvalidTableError(
            f"option {key!r} does not change from true to false: rows dropped so far stay away"
        )
    elif key == _CLUSTERING and _KEY_CLUSTERING in before:
        raise InvalidTableError(
            f"option {key!r} does not change where {_KEY_CLUSTERING!r} is set: files are sorted so"
        )


def _check_bucket(text: str | None, before: Options) -> None:
    if text is None:
        raise InvalidTableError("option 'bucket' cannot be taken back; set another number")
    if before.get(BUCKET_OPTION, _NO_BUCKETS) == _NO_BUCKETS or text == _NO_BUCKETS:
        raise InvalidTableError(
            "option 'bucket' does not change from or to -1 once the table has rows; make another"
            " table"
        )


def _check_vectors(text: str | None, before: Options) -> None:
    is_changed = _is_on(_VECTORS, before.get(_VECTORS)) != _is_on(_VECTORS, text)
    if is_changed and not _is_on(_VECTORS_MODIFIABLE, before.get(_VECTORS_MODIFIABLE)):
        raise InvalidTableError(
            f"option {_VECTORS!r} does not change once the table has rows: without a full"
            f" compaction rows would be read twice. Set {_VECTORS_MODIFIABLE!r} = true first if"
            " you see to that"
        )


def _is_on(key: str, text: str | None) -> bool:
    return text is not None and parse_boolean(text, key)
