"""Which options are there, and which one is a key?

A catalogue is the options of one kind: a table's, a catalog's, a session's. A key belongs to the
option of that name, else to the family whose pattern it fits; a name of former days is first
turned into the current one.
"""

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from lakebed.errors import InvalidArgumentError
from lakebed.options.acting_keys import ACTING
from lakebed.options.altering_keys import ALTERING
from lakebed.options.bucket_keys import BUCKETS
from lakebed.options.catalog_keys import CATALOG, SESSION
from lakebed.options.compaction_keys import COMPACTION
from lakebed.options.data_keys import DATA
from lakebed.options.engine_keys import ENGINES
from lakebed.options.expiry_keys import EXPIRY
from lakebed.options.file_keys import FILE_OPTIONS
from lakebed.options.life_keys import LIFE
from lakebed.options.merging_keys import MERGING
from lakebed.options.option import Option, key_pattern
from lakebed.options.partition_keys import PARTITIONS
from lakebed.options.read_keys import READS
from lakebed.options.stream_keys import STREAMS
from lakebed.options.tag_keys import TAGS


class Catalogue:
    """Options by key.

    Attributes:
        kind: What they are options of, for messages: `"table"`, `"catalog"`.
    """

    def __init__(self, kind: str, options: Iterable[Option]) -> None:
        self.kind = kind
        self._options = {option.key: option for option in options}
        self._current = {old: key for key, each in self._options.items() for old in each.old_keys}
        self._families = [
            (key_pattern(each.key), each) for each in self._options.values() if each.is_family
        ]

    def __iter__(self) -> Iterator[Option]:
        """The options, in the order of their keys."""
        return iter(sorted(self._options.values(), key=lambda option: option.key))

    def __getitem__(self, key: str) -> Option:
        """The option of a key.

        Raises:
            InvalidArgumentError: If there is none; it names the nearest.
        """
        if (option := self.find(key)) is None:
            raise InvalidArgumentError(self.unknown(key))
        return option

    def find(self, key: str) -> Option | None:
        """The option that a key, current or old, belongs to; None if it is not known."""
        key = self.current_key(key)
        if (option := self._options.get(key)) is not None:
            return option
        return next((each for pattern, each in self._families if pattern.fullmatch(key)), None)

    def current_key(self, key: str) -> str:
        """The name that a key has today."""
        return self._current.get(key, key)

    def with_current_keys(self, options: Mapping[str, str]) -> dict[str, str]:
        """Options under the names of today; where both names are given the current one wins."""
        renamed = {self.current_key(key): text for key, text in options.items()}
        return renamed | {key: text for key, text in options.items() if key not in self._current}

    def held(self, options: Mapping[str, str], keys: Iterable[str]) -> dict[str, Any]:
        """The values that hold by key, None where there is none; old keys count too.

        Raises:
            InvalidArgumentError: A text is no value of its option.
        """
        given = self.with_current_keys(options)
        texts = {key: given.get(key, self[key].default) for key in keys}
        return {key: None if text is None else self[key].parse(text) for key, text in texts.items()}

    def unknown(self, key: str) -> str:
        """The sentence that a key is not known, naming the nearest."""
        near = get_close_matches(key, [*self._options, *self._current], n=1, cutoff=0.6)
        hint = f" Is it {near[0]!r}?" if near else ""
        return f"{key!r} is no option of a {self.kind}.{hint}"


TABLE_OPTIONS = Catalogue(
    "table",
    (
        *ACTING,
        *ALTERING,
        *BUCKETS,
        *MERGING,
        *COMPACTION,
        *EXPIRY,
        *PARTITIONS,
        *TAGS,
        *DATA,
        *READS,
        *STREAMS,
        *FILE_OPTIONS,
        *LIFE,
        *ENGINES,
    ),
)
CATALOG_OPTIONS = Catalogue("catalog", CATALOG)
SESSION_OPTIONS = Catalogue("session", SESSION)
