"""Which names do only writers of the format give, so that cleaning may delete what has them?

Anybody may keep files in the directories of a table, so a place says little. What the format names
has a uuid that one writer drew, or is a draft of something (format.md 1, 11):

    data-<uuid>-0.parquet              a data file; the prefix is an option
    data-<uuid>-0.parquet.index        what lies beside it
    data--u-<user>-s-0-w-<uuid>-0.avro   rows that wait for a bucket
    manifest-list-<uuid>-1             metadata; likewise index files and statistics
    .snapshot-7.<uuid>.tmp             a draft, which nobody reads

Snapshots, schemas, tags and the like have no uuid: they are what keeps files, and are never such.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowColumn

Mask = npt.NDArray[np.bool_]

_PREFIXES = frozenset({"data-", "changelog-"})
_UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_METADATA = f"(?:manifest|manifest-list|index-manifest|index|stat)-{_UUID}-[0-9]+"
_GLOBAL_INDEX = rf".+-global-index-{_UUID}\.index"
_PACKED_CHANGELOG = rf"(?:tmp-)?compacted-changelog-{_UUID}.*"
_KEEPERS = (
    r"(?:snapshot|schema|changelog|\.lakebed-expired)-[0-9]+"
    r"|(?:tag|consumer|service)-.+|LATEST|EARLIEST|.*_SUCCESS"
)
# One file for many rows of many tables; who may need it, no table can tell.
_SHARED_BLOBS = ".managed.blob"


@dataclass(frozen=True, slots=True)
class OwnNames:
    """Tells the names of one table's files; picklable.

    Attributes:
        prefixes: How the names of data files and changelog files may begin.
    """

    prefixes: frozenset[str]

    @classmethod
    def with_prefixes(cls, prefixes: Iterable[str]) -> "OwnNames":
        """The names of a table that has had some prefixes, or the usual ones."""
        return cls(_PREFIXES.union(prefixes))

    def are_files(self, names: ArrowColumn) -> Mask:
        """Which are names of files that a snapshot may name, or of drafts."""
        return _matching(names, self._files) | self.are_drafts(names)

    def are_drafts(self, names: ArrowColumn) -> Mask:
        """Which are names of drafts."""
        return _matching(names, rf"\.(?:{self._files}|{_KEEPERS})\.[^.]+\.tmp")

    @property
    def _files(self) -> str:
        prefixes = "|".join(map(re.escape, sorted(self.prefixes)))
        data = rf"(?:{prefixes})(?:-u-.+-w-)?{_UUID}-[0-9]+\..+"
        return "|".join((data, _METADATA, _GLOBAL_INDEX, _PACKED_CHANGELOG))


def _matching(names: ArrowColumn, pattern: str) -> Mask:
    found = pc.match_substring_regex(names, f"^(?:{pattern})$")
    own = pc.and_not(found, pc.ends_with(names, _SHARED_BLOBS))
    mask: Mask = own.to_numpy(zero_copy_only=False)
    return mask
