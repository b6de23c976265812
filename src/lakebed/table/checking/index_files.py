"""Are the index files of each state there, and do they belong to files that are live?

Deletion vectors and hash indexes are opened later, by whoever reads files (`vector_reading`,
`bucket_reading`).
"""

from dataclasses import dataclass, field

import numpy as np
import polars as pl
import pyarrow as pa

from lakebed.errors import LakebedError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import joined, python_values
from lakebed.format.hash_index import HASH_INDEX
from lakebed.format.index_manifest import DELETION_VECTORS, INDEX_COLUMNS, deletion_vector_columns
from lakebed.format.manifest_file import read_index_manifest
from lakebed.table.checking.claimed_files import ClaimedFiles
from lakebed.table.checking.findings import Code, Report
from lakebed.table.checking.lifetimes import Run
from lakebed.table.checking.manifest_reading import ManifestReading
from lakebed.table.checking.references import Reference
from lakebed.table.checking.stored_files import GONE, UNKNOWN, StoredFiles
from lakebed.table.parts import TableParts
from lakebed.table.planning.deletion_vectors import attach_deletion_vectors
from lakebed.table.planning.split_files import positions

_HASH_BYTES = 4
_OWNER = ("partition", "bucket", "data_file_name")


@dataclass(frozen=True, slots=True)
class _IndexManifest:
    """An index manifest that was read.

    Attributes:
        rows: `INDEX_COLUMNS`, and `path`; of the files that are whole.
        vectors: The deletion vectors in them, with `path`.
        is_whole: Whether all files are.
    """

    rows: pa.Table
    vectors: pa.Table
    is_whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexCheck:
    """Looks at index files.

    Attributes:
        parts: The table.
        files: What is claimed of data files.
        stored: What there is.
        manifests: Knows whether a file of metadata is whole.
        report: Takes what is wrong.
    """

    parts: TableParts
    files: ClaimedFiles
    stored: StoredFiles
    manifests: ManifestReading
    report: Report
    _read: dict[str, _IndexManifest | None] = field(default_factory=dict)

    @property
    def file_count(self) -> int:
        """How many index files were looked at."""
        names = [each.rows["path"] for each in self._read.values() if each is not None]
        paths = [path for column in names for path in python_values(column)]
        return len(set(paths))

    def check(self, run: Run) -> pl.DataFrame:
        """Looks at the index files of a run.

        Returns:
            The deletion vectors, each once: `claim` of the file, `path`, `offset`, `length` and
            `cardinality`.
        """
        found = [
            vectors
            for place, state in enumerate(run.states)
            if (vectors := self._vectors(run, place, state.reference)) is not None
        ]
        return pl.concat(found).unique() if found else pl.DataFrame()

    def of(self, reference: Reference) -> pa.Table:
        """The index files of a state that are whole, as `INDEX_COLUMNS`, and their `path`."""
        found = self._of(reference)
        return _with_path(INDEX_COLUMNS.empty_table(), []) if found is None else found.rows

    def is_whole(self, reference: Reference) -> bool:
        """Whether all index files of a state are there."""
        found = self._of(reference)
        return reference.snapshot.index_manifest is None or (found is not None and found.is_whole)

    def marked(self, reference: Reference, claims: pa.Table) -> pa.Table:
        """Claims with the deletion vectors of a state (`DV_COLUMNS`)."""
        found = self._of(reference)
        if found is None:
            vectors = _vector_rows(_with_path(INDEX_COLUMNS.empty_table(), []))
        else:
            vectors = found.vectors
        return attach_deletion_vectors(claims, vectors)

    def _of(self, reference: Reference) -> _IndexManifest | None:
        name = reference.snapshot.index_manifest
        if name is None:
            return None
        if name not in self._read:
            self._read[name] = self._load(self.parts.paths.manifest(name))
        return self._read[name]

    def _load(self, path: str) -> _IndexManifest | None:
        if not self.manifests.is_whole(path, None):
            return None
        try:
            rows = read_index_manifest(self.parts.file_io, path)
            places = rows.select(["partition", "bucket", "external_path"])
            named = places.append_column("index_file_name", rows["file_name"])
            rows = _with_path(rows, python_values(self.parts.index_paths.of_columns(named)))
        except LakebedError as error:
            self.report.add_error(error, path)
            return None
        whole = self._check_stored(rows, path)
        self._check_counts(whole)
        vectors = _vector_rows(whole)
        self._check_owners(vectors, path)
        return _IndexManifest(whole, vectors, whole.num_rows == rows.num_rows)

    def _check_stored(self, rows: pa.Table, source: str) -> pa.Table:
        sizes = self.stored.sizes(joined(rows["path"]))
        said = rows["file_size"].to_numpy()
        paths = python_values(rows["path"])
        for row in np.flatnonzero(sizes == GONE).tolist():
            problem = f"it is not there, and {source} names it"
            self.report.add(Code.MISSING_FILE, paths[row], problem)
        for row in np.flatnonzero((sizes != said) & (sizes >= 0)).tolist():
            problem = f"it has {sizes[row]} bytes, {said[row]} were written; {source} names it"
            self.report.add(Code.FILE_SIZE, paths[row], problem)
        return rows.filter(pa.array((sizes == said) | (sizes == UNKNOWN)))

    def _check_counts(self, rows: pa.Table) -> None:
        ranges = pc.fill_null(pc.list_value_length(joined(rows["deletions_vectors_ranges"])), 0)
        of_type = (
            (DELETION_VECTORS, "deletion vectors", ranges),
            (HASH_INDEX, "hashes", pc.divide(joined(rows["file_size"]), _HASH_BYTES)),
        )
        for index_type, noun, counts in of_type:
            is_type = pc.equal(joined(rows["index_type"]), index_type)
            wrong = pc.and_(is_type, pc.not_equal(counts, joined(rows["row_count"])))
            for row in np.flatnonzero(wrong.to_numpy(zero_copy_only=False)).tolist():
                said, true = rows["row_count"][row].as_py(), counts[row].as_py()
                problem = f"its row count is {said}, and it has {true} {noun}"
                self.report.add(Code.INDEX_COUNTS, rows["path"][row].as_py(), problem)

    def _check_owners(self, vectors: pa.Table, source: str) -> None:
        owners = pl.DataFrame(vectors.select(list(_OWNER)))
        for name in sorted(set(owners.filter(owners.is_duplicated())["data_file_name"].to_list())):
            problem = f"data file {name} has two deletion vectors"
            self.report.add(Code.DELETION_VECTOR, source, problem)

    def _vectors(self, run: Run, place: int, reference: Reference) -> pl.DataFrame | None:
        """The vectors of a state that has any; those without a live file are reported."""
        found = self._of(reference)
        if found is None or not found.vectors.num_rows:
            return None
        lives = run.lifetimes
        claims = lives.filter((lives["born"] <= place) & (place < lives["died"]))[
            "claim"
        ].to_numpy()
        rows = self.files.rows.take(positions(claims)).select(["partition", "bucket", "file_name"])
        live = pl.DataFrame(rows).with_columns(claim=pl.Series(claims))
        vectors = pl.DataFrame(found.vectors).join(
            live.unique(["partition", "bucket", "file_name"]),
            left_on=list(_OWNER),
            right_on=["partition", "bucket", "file_name"],
            how="left",
        )
        for row in vectors.filter(vectors["claim"].is_null()).iter_rows(named=True):
            problem = (
                f"it has a deletion vector of {row['data_file_name']}, which is not live in"
                f" {reference.path}"
            )
            self.report.add(Code.DANGLING_VECTOR, row["path"], problem)
        told = vectors.filter(vectors["claim"].is_not_null())
        return told.select("claim", "path", "offset", "length", "cardinality")


def _with_path(rows: pa.Table, paths: list[str]) -> pa.Table:
    return rows.append_column("path", pa.array(paths, pa.string()))


def _vector_rows(rows: pa.Table) -> pa.Table:
    """The deletion vectors in index files, with the path of each."""
    files = rows.filter(pc.equal(rows["index_type"], DELETION_VECTORS))
    counts = pc.fill_null(pc.list_value_length(joined(files["deletions_vectors_ranges"])), 0)
    owners = np.repeat(np.arange(files.num_rows), counts.to_numpy(zero_copy_only=False))
    paths = files["path"].take(positions(owners))
    return deletion_vector_columns(files.drop_columns(["path"])).append_column("path", paths)
