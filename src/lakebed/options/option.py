"""What is known of one option?

An option has a standing. What it `acts` on, Lakebed does. `tuning` concerns the speed or memory of
some engine, changes neither rows nor files, and is kept. The rest is `refused`: its `changes` say
for which use of a table; without any it promises an action (a compaction, a tag), which a Lakebed
user may not ask for, but which another engine's table may ask of that engine.

A single option may have values of both sorts: `merge-engine` acts, in a write for `deduplicate`
alone.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import partial

from lakebed.errors import InvalidArgumentError
from lakebed.options import values
from lakebed.options.values import ValueType


class Standing(Enum):
    """What Lakebed does with an option."""

    ACTS = "acts"
    TUNING = "tuning"
    REFUSED = "refused"


class Use(Enum):
    """What a table is opened for."""

    READ = "read"
    WRITE = "write"


NEITHER: frozenset[Use] = frozenset()
READING = frozenset({Use.READ})
WRITING = frozenset({Use.WRITE})
BOTH = READING | WRITING


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option, or a family of options whose key has `<placeholders>`.

    Attributes:
        key: Its current name; `<x>` stands for a name, `*` for any rest.
        value_type: What it takes.
        default: The text that holds where it is not given, or None.
        standing: What Lakebed does with it.
        meaning: One phrase.
        changes: The uses of a table in which a value that Lakebed does not act on would change
            the rows read or the files written.
        accepted: The values that Lakebed acts on or that ask for nothing; None is all of them.
        old_keys: Names that it once had.
        for_scan: Whether it may be given to a single scan, and so to a stream.
        for_stream: Whether it may be given to a stream alone.
        immutable: Whether it is fixed when the table is created.
        left_to_others: Whether `write-only=true` leaves it to another job.
    """

    key: str
    value_type: ValueType
    default: str | None
    standing: Standing
    meaning: str
    changes: frozenset[Use] = NEITHER
    accepted: tuple[str, ...] | None = None
    old_keys: tuple[str, ...] = field(default=())
    for_scan: bool = False
    for_stream: bool = False
    immutable: bool = False
    left_to_others: bool = False

    @property
    def is_family(self) -> bool:
        """Whether the key stands for many."""
        return any(sign in self.key for sign in "<*#")

    def parse(self, text: str, key: str | None = None) -> object:
        """The value of a text; `key` is the name that it was given under, for the message."""
        return self.value_type.parse(text, key or self.key)

    def accepts(self, text: str) -> bool:
        """Whether Lakebed does what this value asks for.

        Raises:
            InvalidArgumentError: If the text is no value of the option's type.
        """
        value = self.parse(text)
        if self.accepted is None:
            return True
        return value in [self.parse(each) for each in self.accepted]


def key_pattern(key: str) -> re.Pattern[str]:
    """The keys that a family's key stands for; a column's name may hold dots, a type's may not."""
    pattern = ""
    for part in re.split(r"(<[^>]+>|\*|#)", key):
        if part in {"<type>", "<option>"}:
            pattern += r"[^.]+"
        else:
            pattern += ".+" if part and part[0] in "<*#" else re.escape(part)
    return re.compile(pattern)


def one_of(members: type[Enum]) -> ValueType:
    """The type of an option with a closed set of values."""
    name = " / ".join(str(member.value) for member in members)
    return ValueType(name=name, parse=partial(values.parse_member, of=members))


_TYPES: Mapping[str, Callable[[str, str], object]] = {
    "text": values.parse_text,
    "word": values.parse_word_in_any_case,
    "names": values.parse_names,
    "boolean": values.parse_boolean,
    "integer": values.parse_integer,
    "long": values.parse_long,
    "number": values.parse_number,
    "size": values.parse_size,
    "duration": values.parse_duration,
    "map": values.parse_map,
}


def value_type(name: str) -> ValueType:
    """A type by its name, or by its words: `boolean`, `size`, `order/zorder/hilbert`."""
    if name in _TYPES:
        return ValueType(name=name, parse=_TYPES[name])
    words = tuple(name.split("/"))
    if len(words) < 2:
        raise InvalidArgumentError(f"{name!r} is no type of an option")
    return ValueType(name=" / ".join(words), parse=partial(values.parse_word, of=words))
