"""Which options name columns, and what becomes of them when a column gets another name?

A name stands in the text of an option (`sequence.field`), in its key (`fields.<f>.distinct`), or in
both (`fields.<f>.sequence-group`).
"""

import re
from collections.abc import Mapping

from lakebed.options.catalogue import TABLE_OPTIONS

# Their texts are names, with commas between them; behind a name may stand a key in brackets.
_TEXTS = re.compile(
    r"bucket-key|sequence\.field|rowkind\.field|record-level\.time-field|clustering\.columns"
    r"|changelog-producer\.row-deduplicate-ignore-fields"
    r"|partial-update\.remove-record-on-sequence-group"
    r"|fields\..+\.sequence-group|file-index\.[^.]+\.columns|pk-[a-z-]+\.index\.columns"
    r"|blob-field|blob-descriptor-field|blob-view-field|vector-field"
)
_KEY_INDEX = re.compile(r"pk-[a-z-]+\.index\.columns")
_GROUP_KEY = re.compile(r"(fields\.)(.+)(\.sequence-group)")
_INDEX_KEY = re.compile(r"(file-index\.[^.]+\.)(.+)(\.[^.]+)")
_FIELD_FAMILY = "fields.<f>"
_NOBODY = "\0"


def rename_in_options(options: Mapping[str, str], name: str, new_name: str) -> dict[str, str]:
    """Options that name a column, naming it otherwise.

    Args:
        options: Those of a table.
        name: The column as it was called.
        new_name: As it is called now.
    """
    return {
        _renamed_key(key, name, new_name): (
            _renamed_list(text, name, new_name) if _lists_columns(key) else text
        )
        for key, text in options.items()
    }


def options_naming(options: Mapping[str, str], name: str) -> list[str]:
    """The keys of the options that name a column."""
    return [
        key
        for key, text in options.items()
        if rename_in_options({key: text}, name, _NOBODY) != {key: text}
    ]


def key_indexed_columns(options: Mapping[str, str]) -> tuple[str, ...]:
    """The columns with indexes in each bucket, whose files know them by name and type."""
    texts = [text for key, text in options.items() if _KEY_INDEX.fullmatch(key)]
    return tuple(name.strip() for text in texts for name in text.split(","))


def _renamed_key(key: str, name: str, new_name: str) -> str:
    group = _GROUP_KEY.fullmatch(key)
    if group is not None:
        return f"{group[1]}{_renamed_list(group[2], name, new_name)}{group[3]}"
    option = TABLE_OPTIONS.find(key)
    if option is not None and option.key.startswith(_FIELD_FAMILY):
        suffix = option.key.removeprefix(_FIELD_FAMILY)
        return f"fields.{new_name}{suffix}" if key == f"fields.{name}{suffix}" else key
    index = _INDEX_KEY.fullmatch(key)
    if index is not None and index[2] == name:
        return f"{index[1]}{new_name}{index[3]}"
    return key


def _lists_columns(key: str) -> bool:
    return _TEXTS.fullmatch(TABLE_OPTIONS.current_key(key)) is not None


def _renamed_list(text: str, name: str, new_name: str) -> str:
    return ",".join(_renamed_item(each, name, new_name) for each in text.split(","))


def _renamed_item(item: str, name: str, new_name: str) -> str:
    bare = item.strip()
    if bare == name:
        return item.replace(bare, new_name)
    if bare.startswith(f"{name}["):
        return item.replace(name, new_name, 1)
    return item
