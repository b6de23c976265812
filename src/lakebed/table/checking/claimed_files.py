"""Where do the files lie of which something is claimed, and are they there?"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowArray, joined, python_values
from lakebed.table.checking.findings import Code, Report
from lakebed.table.checking.stored_files import GONE, UNKNOWN, StoredFiles
from lakebed.table.parts import TableParts
from lakebed.table.planning.split_files import positions

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedFiles:
    """Claims by number, and where their files are.

    Attributes:
        rows: The claims.
        paths: Path of each file.
        directories: Where what lies beside it is.
        places: The bucket of each, as a number.
        partitions: The partition of each, as a number.
    """

    rows: pa.Table
    paths: ArrowArray
    directories: ArrowArray
    places: Numbers
    partitions: Numbers

    @classmethod
    def of(cls, parts: TableParts, claims: pa.Table) -> "ClaimedFiles":
        """Those of a table."""
        places = parts.split_files.places(claims)
        buckets = places.directories.take(positions(places.codes))
        outside = joined(claims["external_path"])
        names = joined(claims["file_name"])
        partitions = joined(claims["partition"]).dictionary_encode()
        beside = pc.replace_substring_regex(outside, pattern="/[^/]*$", replacement="")
        return cls(
            rows=claims,
            paths=pc.coalesce(outside, pc.binary_join_element_wise(buckets, names, "/")),
            directories=pc.coalesce(beside, buckets),
            places=places.codes,
            partitions=partitions.indices.to_numpy().astype(np.int64),
        )

    def numbers(self, name: str) -> Numbers:
        """A column of whole numbers, 0 for null."""
        column: Any = pc.fill_null(joined(self.rows[name]), 0)
        numbers: Numbers = column.to_numpy().astype(np.int64)
        return numbers

    def of_paths(self, claims: Numbers) -> Numbers:
        """Every claim of the files of some claims: of one file there may be several."""
        chosen = self.paths.take(positions(np.unique(claims)))
        found: Numbers = np.flatnonzero(np.asarray(pc.is_in(self.paths, value_set=chosen)))
        return found

    def one_a_file(self, claims: Numbers) -> Numbers:
        """Of some claims the first one of each file."""
        codes = self.paths.take(positions(claims)).dictionary_encode().indices.to_numpy()
        chosen: Numbers = claims[np.sort(np.unique(codes, return_index=True)[1])]
        return chosen

    def path(self, claim: int) -> str:
        """The file of a claim."""
        path: str = self.paths[claim].as_py()
        return path

    def manifest(self, claim: int) -> str:
        """The manifest that makes a claim."""
        path: str = self.rows["manifest"][claim].as_py()
        return path

    def check_stored(self, claims: Numbers, *, stored: StoredFiles, report: Report) -> Numbers:
        """Whether files, and what belongs to them, are there.

        Args:
            claims: Some claims.
            stored: What there is.
            report: Takes what is wrong.

        Returns:
            The claims whose file is whole.
        """
        sizes = stored.sizes(self.paths.take(positions(claims)))
        said = self.numbers("file_size")[claims]
        for row in np.flatnonzero(sizes == GONE).tolist():
            self._miss(self.path(int(claims[row])), int(claims[row]), report)
        wrong = (sizes != said) & (sizes >= 0)
        for row in np.flatnonzero(wrong).tolist():
            claim = int(claims[row])
            problem = (
                f"it has {sizes[row]} bytes, {said[row]} were written ({self.manifest(claim)})"
            )
            report.add(Code.FILE_SIZE, self.path(claim), problem)
        self._check_extra(claims, stored=stored, report=report)
        whole: Numbers = claims[(sizes == said) | (sizes == UNKNOWN)]
        return whole

    def _check_extra(self, claims: Numbers, *, stored: StoredFiles, report: Report) -> None:
        lists = joined(self.rows["extra_files"]).take(positions(claims))
        counts = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
        owners = np.repeat(np.arange(len(claims)), counts)
        if not len(owners):
            return
        directories = self.directories.take(positions(claims[owners]))
        paths = pc.binary_join_element_wise(directories, pc.list_flatten(lists), "/")
        gone = np.flatnonzero(stored.sizes(paths) == GONE)
        for owner, path in zip(
            owners[gone].tolist(), python_values(paths.take(positions(gone))), strict=True
        ):
            self._miss(path, int(claims[owner]), report)

    def _miss(self, path: str, claim: int, report: Report) -> None:
        report.add(Code.MISSING_FILE, path, f"it is not there ({self.manifest(claim)} names it)")
