"""Which columns have which indexes in each data file, and with which settings?

`file-index.<type>.columns` names the columns of a type of index, and
`file-index.<type>.<column>.<setting>` sets one of them up.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lakebed.errors import InvalidArgumentError, InvalidTableError, UnsupportedError
from lakebed.options import values
from lakebed.options.catalogue import TABLE_OPTIONS

_COLUMNS = re.compile(r"file-index\.([^.]+)\.columns")
_SETTING = re.compile(r"file-index\.([^.]+)\.(.+)\.([^.]+)")
_THRESHOLD = "file-index.in-manifest-threshold"


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnIndexOptions:
    """One index of one column; each type of index looks at the settings that it has.

    Attributes:
        index_type: `bloom-filter`, `bitmap`, `bsi` or `range-bitmap`.
        column: The column.
        items: How many distinct values a bloom filter is made for.
        fpp: The share of other values that it may take for one of them.
        version: The layout of a bitmap index.
        index_block_size: Bytes of a block of values of a bitmap index.
        chunk_size: Bytes of a chunk of values of a range bitmap; None: as the column's type has it.
    """

    index_type: str
    column: str
    items: int = 1_000_000
    fpp: float = 0.1
    version: int = 2
    index_block_size: int = 16 * 1024
    chunk_size: int | None = None


def _share(text: str, key: str) -> float:
    if 0 < (number := values.parse_number(text, key)) < 1:
        return number
    raise InvalidArgumentError(f"option {key!r} cannot be {text!r}: it takes a share such as 0.1.")


def _layout(text: str, key: str) -> int:
    return int(values.parse_word(text, key, of=("1", "2")))


_SETTINGS: Mapping[str, Mapping[str, Callable[[str, str], int | float]]] = {
    "bloom-filter": {"items": values.parse_positive, "fpp": _share},
    "bitmap": {"version": _layout, "index-block-size": values.parse_positive_size},
    "bsi": {},
    "range-bitmap": {"chunk-size": values.parse_size},
}


def in_manifest_threshold(options: Mapping[str, str]) -> int:
    """Up to how many bytes the indexes of a data file are held by the manifest."""
    default = TABLE_OPTIONS[_THRESHOLD].default
    return values.parse_size(options.get(_THRESHOLD, default or ""), _THRESHOLD)


def column_indexes(options: Mapping[str, str]) -> tuple[ColumnIndexOptions, ...]:
    """The indexes that a table's options ask for, in the order of their keys and names.

    Raises:
        InvalidArgumentError: A text is no value of its option.
        InvalidTableError: An index has no setting of that name, or its column no such index.
        UnsupportedError: A type of index that Lakebed does not write.
    """
    settings: dict[tuple[str, str], dict[str, int | float]] = {}
    for key in sorted(options):
        if match := _COLUMNS.fullmatch(key):
            for column in _names(options[key], key):
                settings[_known_type(match[1], key), column] = {}
    for key in sorted(options):
        match = None if _COLUMNS.fullmatch(key) else _SETTING.fullmatch(key)
        if match is None:
            continue
        index_type, column, setting = _known_type(match[1], key), match[2], match[3]
        if (index_type, column) not in settings:
            declared = f"'file-index.{index_type}.columns'"
            advice = f"Name it in {declared} or remove the setting"
            raise InvalidTableError(f"{key!r}: {column!r} is not among {declared}. {advice}.")
        if (parse := _SETTINGS[index_type].get(setting)) is None:
            known = ", ".join(_SETTINGS[index_type]) or "none"
            problem = f"an index of type {index_type} has no setting {setting!r}"
            raise InvalidTableError(f"{key!r}: {problem}. Its settings: {known}.")
        settings[index_type, column][setting.replace("-", "_")] = parse(options[key], key)
    return tuple(
        ColumnIndexOptions(index_type=index_type, column=column, **given)  # type: ignore[arg-type]  # as parsed
        for (index_type, column), given in settings.items()
    )


def _known_type(index_type: str, key: str) -> str:
    if index_type in _SETTINGS:
        return index_type
    raise UnsupportedError(
        f"{key!r}: Lakebed writes no index of type {index_type!r}. "
        f"Use one of {', '.join(_SETTINGS)}, or leave the option out."
    )


def _names(text: str, key: str) -> list[str]:
    names = list(dict.fromkeys(name.strip() for name in text.split(",")))
    if "" in names:
        allowed = "names separated by commas, such as a,b"
        raise InvalidArgumentError(f"option {key!r} cannot be {text!r}: it takes {allowed}.")
    return names
