"""Which files of a primary-key table have a statistics mode of their own?"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakebed.errors import InvalidArgumentError
from lakebed.options.choices import StatsMode, parse_level_modes

_CHANGELOG = "changelog-file.stats-mode"
_PER_LEVEL = "metadata.stats-mode.per.level"
_PER_LEVEL_PREFIX = f"{_PER_LEVEL}."


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsOptions:
    """Modes other than `metadata.stats-mode`.

    Attributes:
        per_level: `metadata.stats-mode.per.level`.
        changelog: `changelog-file.stats-mode`; None: as data files of the level.
    """

    per_level: Mapping[int, StatsMode] = field(hash=False)
    changelog: StatsMode | None

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> "StatsOptions":
        """The options that hold.

        Raises:
            InvalidArgumentError: A text is no value of its option.
        """
        changelog = options.get(_CHANGELOG)
        single = {
            _level(key): StatsMode.parse(text, key)
            for key, text in options.items()
            if key.startswith(_PER_LEVEL_PREFIX)
        }
        return cls(
            per_level=single | parse_level_modes(options.get(_PER_LEVEL, ""), _PER_LEVEL),
            changelog=None if changelog is None else StatsMode.parse(changelog, _CHANGELOG),
        )

    def find(self, level: int, *, is_changelog: bool) -> StatsMode | None:
        """The mode of a file; None where it is that of the table."""
        if is_changelog and self.changelog is not None:
            return self.changelog
        return self.per_level.get(level)


def _level(key: str) -> int:
    level = key.removeprefix(_PER_LEVEL_PREFIX)
    if level.isdecimal():
        return int(level)
    raise InvalidArgumentError(f"option {key!r}: {level!r} is no level, which is a number from 0.")
