"""By which columns are the rows of an append table laid out, and how?

The options as typed values. Whether columns and keys allow it is `table.definition`'s question.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lakebed.options.catalogue import TABLE_OPTIONS

_INCREMENTAL = "clustering.incremental"
_COLUMNS = "clustering.columns"
_STRATEGY = "clustering.strategy"
_MODE = "clustering.incremental.mode"
_ROW_ORDER = "bucket-append-ordered"
_HOW = (_COLUMNS, _STRATEGY, _MODE)
_KEYS = (*_HOW, _INCREMENTAL, _ROW_ORDER)
_AUTOMATIC = "auto"
_LOCAL_SORT = "local-sort"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteringOptions:
    """Options of clustering.

    Attributes:
        is_incremental: `clustering.incremental`: whether compaction clusters, run by run.
        columns: `clustering.columns`.
        strategy: `clustering.strategy`: `order`, `zorder` or `hilbert`; None: by their number.
        is_local: Whether `clustering.incremental.mode` is `local-sort`: each file is in order, and
            not the files with each other.
        keeps_row_order: `bucket-append-ordered`: whether rows of a bucket stay as they came.
        unused: Keys of options that say how to cluster where nothing says that it is done.
    """

    is_incremental: bool
    columns: tuple[str, ...]
    strategy: str | None
    is_local: bool
    keeps_row_order: bool
    unused: tuple[str, ...]

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> "ClusteringOptions":
        """The options that hold; old keys count too.

        Raises:
            InvalidArgumentError: A text is no value of its option.
        """
        held = TABLE_OPTIONS.held(options, _KEYS)
        defaults = TABLE_OPTIONS.held({}, _HOW)
        is_incremental: bool = held[_INCREMENTAL]
        asked = tuple(key for key in _HOW if held[key] != defaults[key])
        return cls(
            is_incremental=is_incremental,
            columns=held[_COLUMNS] or (),
            strategy=None if held[_STRATEGY] == _AUTOMATIC else held[_STRATEGY],
            is_local=held[_MODE] == _LOCAL_SORT,
            keeps_row_order=held[_ROW_ORDER],
            unused=() if is_incremental else asked,
        )
