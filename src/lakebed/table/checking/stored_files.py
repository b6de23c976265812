"""Which files are there, and of which size? Each directory is listed once."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import LakebedError, NotFoundError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowColumn, python_values
from lakebed.storage.file_io import FileIO
from lakebed.table.checking.findings import Report
from lakebed.table.spreading import Spread

Sizes = npt.NDArray[np.int64]

GONE = -1
"""The size of a file that is not there."""
UNKNOWN = -2
"""The size of a file whose directory cannot be listed."""


@dataclass(frozen=True, slots=True)
class StoredFiles:
    """What a store holds, as of the first look at each directory.

    Attributes:
        file_io: The store.
        report: Takes what cannot be listed.
        spread: For many directories.
    """

    file_io: FileIO
    report: Report
    spread: Spread
    _listed: dict[str, dict[str, int] | None] = field(default_factory=dict)

    def size(self, path: str) -> int:
        """Bytes of a file."""
        directory, _, name = path.rpartition("/")
        if directory not in self._listed:
            self._listed[directory] = self._list(directory)
        sizes = self._listed[directory]
        return UNKNOWN if sizes is None else sizes.get(name, GONE)

    def sizes(self, paths: ArrowColumn) -> Sizes:
        """Bytes of many files."""
        of_paths = pc.replace_substring_regex(paths, pattern="/[^/]*$", replacement="")
        directories = python_values(pc.unique(of_paths))
        self._list_all(directories)
        known = {each: self._listed[each] for each in directories}
        held = [f"{place}/{name}" for place, names in known.items() for name in names or ()]
        bytes_held = [size for names in known.values() for size in (names or {}).values()]
        unlisted = pa.array([place for place, names in known.items() if names is None], pa.string())
        found = pc.fill_null(pc.index_in(paths, value_set=pa.array(held, pa.string())), -1)
        sizes: Sizes = np.array([*bytes_held, GONE], np.int64)[np.asarray(found)]
        sizes[np.asarray(pc.is_in(of_paths, value_set=unlisted))] = UNKNOWN
        return sizes

    def _list_all(self, directories: Iterable[str]) -> None:
        new = [each for each in directories if each not in self._listed]
        self._listed.update(zip(new, self.spread(self._list, new), strict=True))

    def _list(self, directory: str) -> dict[str, int] | None:
        try:
            return {
                status.name: status.size_bytes
                for status in self.file_io.list(directory)
                if not status.is_directory
            }
        except NotFoundError:
            return {}
        except LakebedError as error:
            self.report.add_error(error, directory)
            return None
