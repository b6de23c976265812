"""Will Lakebed do what these options ask for?

Reject, never ignore. Three situations, of falling strictness:

1. A Lakebed user creates or alters a table: every key must be known and every value acted on.
2. A Lakebed user scans: every key must be one that a scan knows, and every value acted on.
3. A table of any engine is opened: a value that would change the rows read or the files written
   is refused for that use. The rest is kept: it is another engine's business.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from lakebed.errors import InvalidArgumentError, InvalidTableError, UnsupportedError
from lakebed.options.catalogue import CATALOG_OPTIONS, TABLE_OPTIONS, Catalogue
from lakebed.options.option import Option, Standing, Use
from lakebed.options.values import OptionValue, format_value, parse_boolean

_SESSION_PREFIX = "lakebed."
_TABLE_DEFAULT = "table-default."
_AT_STAKE = {Use.READ: "rows read", Use.WRITE: "files written"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionReport:
    """What becomes of one option of a table.

    Attributes:
        key: As the table has it.
        value: As the table has it.
        standing: What Lakebed does with this value; None where the key is not known.
        effect: The same in words.
    """

    key: str
    value: str
    standing: Standing | None
    effect: str


def normalize(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """A user's options as a table stores them: current keys, texts.

    Raises:
        InvalidArgumentError: If an option is given twice, under an old and its current key.
    """
    given: dict[str, str] = {}
    normalized: dict[str, str] = {}
    for key, value in options.items():
        current = TABLE_OPTIONS.current_key(key)
        if current in given:
            problem = f"options {given[current]!r} and {key!r} are two names of one option"
            raise InvalidArgumentError(f"{problem}. Give {current!r} alone.")
        given[current] = key
        normalized[current] = format_value(value)
    return normalized


def check_creatable(options: Mapping[str, str]) -> None:
    """Checks all options of a table that a Lakebed user creates or alters.

    Raises:
        InvalidTableError: If a key is not known.
        InvalidArgumentError: If a text is no value of its option.
        UnsupportedError: If Lakebed would not act on an option.
    """
    current = TABLE_OPTIONS.with_current_keys(options)
    for key in current:
        if key.startswith(_SESSION_PREFIX):
            advice = "Give it to the catalog or the session"
            raise InvalidTableError(f"{key!r} is never stored in a table. {advice}.")
        if TABLE_OPTIONS.find(key) is None:
            raise InvalidTableError(TABLE_OPTIONS.unknown(key))
    problems = [
        _why_not_stored(option, key=key, text=text)
        for key, text, option in _not_acted_on(current)
        if not (option.left_to_others and _is_write_only(current))
    ]
    if problems:
        raise UnsupportedError("\n".join(problems))


def check_scan_options(options: Mapping[str, str]) -> None:
    """Checks the options of one scan.

    Raises:
        InvalidArgumentError: If a key is not known or none of a scan's, or a text is no value of
            its option.
        UnsupportedError: If Lakebed would not act on an option.
    """
    current = TABLE_OPTIONS.with_current_keys(options)
    for key in current:
        if TABLE_OPTIONS[key].for_stream:
            raise InvalidArgumentError(
                f"{key!r} is an option of a stream, and this reads once. Leave it out."
            )
    _check_read_options(current, reading="scan")


def check_stream_options(options: Mapping[str, str]) -> None:
    """Checks the options of one stream.

    Raises:
        InvalidArgumentError: If a key is not known or neither a stream's nor a scan's, or a text is
            no value of its option.
        UnsupportedError: If Lakebed would not act on an option.
    """
    _check_read_options(TABLE_OPTIONS.with_current_keys(options), reading="stream")


def _check_read_options(current: Mapping[str, str], *, reading: str) -> None:
    for key in current:
        option = TABLE_OPTIONS[key]
        is_of_reading = option.for_scan or option.for_stream
        if not is_of_reading and option.standing is not Standing.TUNING:
            advice = "Set it on the table" if option.standing is Standing.ACTS else "Leave it out"
            raise InvalidArgumentError(f"{key!r} is no option of a {reading}. {advice}.")
    problems = [
        f"{_not_supported(option, key=key, text=text)}. Leave it out{_or_set(option)}."
        for key, text, option in _not_acted_on(current)
    ]
    if problems:
        raise UnsupportedError("\n".join(problems))


def check_openable(options: Mapping[str, str], *, use: Literal["read", "write"]) -> None:
    """Checks the options of a table that any engine may have made, for one use of it.

    Raises:
        InvalidArgumentError: If a text is no value of its option.
        UnsupportedError: If an option that Lakebed does not act on would change the rows read or
            the files written.
    """
    purpose = Use(use)
    current = TABLE_OPTIONS.with_current_keys(options)
    problems = [
        f"{_not_supported(option, key=key, text=text)}; {_AT_STAKE[purpose]} would be "
        f"wrong. Use another client to {use} this table{_or_leave(option)}."
        for key, text, option in _not_acted_on(current)
        if purpose in option.changes and not (option.left_to_others and _is_write_only(current))
    ]
    if problems:
        raise UnsupportedError("\n".join(problems))


def check_catalog_options(options: Mapping[str, str]) -> None:
    """Checks the options of a catalog, and of the tables that it will make.

    Raises:
        InvalidArgumentError: If a key is not known or a text is no value of its option.
        UnsupportedError: If Lakebed would not act on an option.
    """
    for key in options:
        if CATALOG_OPTIONS.find(key) is None:
            raise InvalidArgumentError(CATALOG_OPTIONS.unknown(key))
    defaults = table_defaults(options)
    for key in defaults:
        if TABLE_OPTIONS.find(key) is None:
            raise InvalidArgumentError(f"{_TABLE_DEFAULT}{key}: {TABLE_OPTIONS.unknown(key)}")
    problems = [
        _why_not_stored(option, key=key, text=text)
        for catalogue, given in ((CATALOG_OPTIONS, options), (TABLE_OPTIONS, defaults))
        for key, text, option in _not_acted_on(given, catalogue)
    ]
    if problems:
        raise UnsupportedError("\n".join(problems))


def table_defaults(options: Mapping[str, str]) -> dict[str, str]:
    """The options that a catalog gives to each table it makes, under current keys."""
    return TABLE_OPTIONS.with_current_keys(
        {
            key.removeprefix(_TABLE_DEFAULT): text
            for key, text in options.items()
            if key.startswith(_TABLE_DEFAULT)
        }
    )


def report(options: Mapping[str, str]) -> list[OptionReport]:
    """What becomes of each option of a table, in the order of the keys."""
    return [_report(key, options[key]) for key in sorted(options)]


def _report(key: str, text: str) -> OptionReport:
    option = TABLE_OPTIONS.find(key)
    standing, effect = None, "kept: not known"
    if option is not None:
        try:
            standing, effect = _outcome(option, text)
        except InvalidArgumentError as error:
            standing, effect = Standing.REFUSED, str(error)
    return OptionReport(key=key, value=text, standing=standing, effect=effect)


def _outcome(option: Option, text: str) -> tuple[Standing, str]:
    if option.accepts(text):
        if option.standing is Standing.TUNING:
            return Standing.TUNING, f"kept: {option.meaning}"
        return Standing.ACTS, option.meaning
    if not option.changes:
        return Standing.REFUSED, f"kept for other engines: {option.meaning}"
    uses = " and ".join(sorted(use.value for use in option.changes))
    return Standing.REFUSED, f"refused to {uses}: {option.meaning}"


def _not_acted_on(
    options: Mapping[str, str], catalogue: Catalogue = TABLE_OPTIONS
) -> list[tuple[str, str, Option]]:
    return [
        (key, text, option)
        for key, text in options.items()
        if (option := catalogue.find(key)) is not None and not option.accepts(text)
    ]


def _why_not_stored(option: Option, *, key: str, text: str) -> str:
    problem = _not_supported(option, key=key, text=text)
    reason = "Lakebed would keep it and not act on it"
    return f"{problem}; {reason}. Leave it out{_or_set(option)}{_or_leave(option)}."


def _not_supported(option: Option, *, key: str, text: str) -> str:
    return f"option {key!r} = {text!r} ({option.meaning}) is not supported yet"


def _is_write_only(options: Mapping[str, str]) -> bool:
    return parse_boolean(options.get("write-only", "false"), "write-only")


def _or_leave(option: Option) -> str:
    return " or set write-only=true to leave it to another job" if option.left_to_others else ""


def _or_set(option: Option) -> str:
    if option.accepted:
        return f" or set it to {' or '.join(option.accepted)}"
    return ""
