"""What must be read to prove the files and buckets of a table?

A data file is read once, however many states name it. A bucket is merged in the newest state of
each run, so of each branch and tag.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pyarrow as pa

from lakebed.format.arrow.typing import python_values
from lakebed.format.deletion_vector import DeletionVectorRef
from lakebed.format.hash_index import HASH_INDEX
from lakebed.lsm.runs import sections
from lakebed.table.checking.bucket_reading import BucketReading, HashIndexReading
from lakebed.table.checking.claimed_files import ClaimedFiles, Numbers
from lakebed.table.checking.file_reading import FileReading
from lakebed.table.checking.findings import Code, Report
from lakebed.table.checking.index_files import IndexCheck
from lakebed.table.checking.lifetimes import Run
from lakebed.table.checking.reading import Piece
from lakebed.table.checking.vector_reading import MarkedFile, VectorReading
from lakebed.table.parts import TableParts
from lakebed.table.planning.key_ranks import key_ranks
from lakebed.table.planning.split import SplitSection
from lakebed.table.planning.split_files import positions
from lakebed.table.planning.visibility import TableLayout
from lakebed.table.routers import moves_keys
from lakebed.table.writing.routing import NOT_FIXED

_Place = tuple[bytes, int]

_VECTORS_AT_ONCE = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedClaims:
    """Claims of whole files, and whose schemas they were written with.

    Attributes:
        branch: The branch.
        claims: One a file.
        is_changelog: Whether they are changelog files.
    """

    branch: str
    claims: Numbers
    is_changelog: bool

    def among(self, claims: Numbers) -> "OwnedClaims":
        """Those that are among others."""
        return replace(self, claims=np.intersect1d(self.claims, claims))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """Makes the pieces.

    Attributes:
        parts: The table.
        files: What is claimed.
        indexes: Knows the index files.
        report: Takes what is wrong.
    """

    parts: TableParts
    files: ClaimedFiles
    indexes: IndexCheck
    report: Report

    def of_files(self, owned: OwnedClaims) -> list[Piece]:
        """The files of some claims, each to be read."""
        rows = self.files.rows.take(positions(owned.claims))
        paths = python_values(self.files.paths.take(positions(owned.claims)))
        names = ("file_size", "row_count", "schema_id", "partition", "bucket", "total_buckets")
        columns = [python_values(rows[name]) for name in (*names, "write_cols")]
        return [
            FileReading(
                path=path,
                size_bytes=size,
                row_count=count,
                schema_id=schema_id,
                branch=owned.branch,
                partition=partition,
                bucket=bucket,
                total_buckets=total,
                is_changelog=owned.is_changelog,
                columns=None if written is None else tuple(written),
            )
            for path, size, count, schema_id, partition, bucket, total, written in zip(
                paths, *columns, strict=True
            )
        ]

    def of_vectors(self, vectors: pl.DataFrame) -> list[Piece]:
        """Deletion vectors, some at a time (`IndexCheck.check`)."""
        if not vectors.height:
            return []
        counts = self.files.numbers("row_count")
        marked = [
            MarkedFile(
                path=self.files.path(claim),
                row_count=int(counts[claim]),
                vector=DeletionVectorRef(
                    path=path, offset=offset, length=length, cardinality=cardinality
                ),
            )
            for claim, path, offset, length, cardinality in vectors.iter_rows()
        ]
        return [
            VectorReading(tuple(marked[start : start + _VECTORS_AT_ONCE]))
            for start in range(0, len(marked), _VECTORS_AT_ONCE)
        ]

    def of_newest(self, run: Run, whole: Numbers) -> Iterator[Piece]:
        """The buckets of the newest state of a run, all of whose files are whole.

        Args:
            run: The run.
            whole: The claims whose files are there.
        """
        last = len(run.states) - 1
        reference = run.states[last].reference
        if not self.parts.schema.primary_keys or not self.indexes.is_whole(reference):
            return
        live = run.lifetimes.filter(pl.col("died") > last)["claim"].to_numpy()
        live = live[self.files.numbers("bucket")[live] >= 0]
        if not len(live):
            return
        hashes: dict[_Place, tuple[str, int]] | None = None
        if self.parts.options.bucket == NOT_FIXED and not moves_keys(self.parts):
            hashes = _hash_indexes(self.indexes.of(reference))
            yield from self._of_hash_indexes(hashes, reference.path)
        marked = self.indexes.marked(reference, self.files.rows.take(positions(live)))
        places = self.files.places[live]
        is_whole = np.isin(live, whole)
        order = np.argsort(places, kind="stable")
        for members in np.split(order, np.flatnonzero(np.diff(places[order])) + 1):
            # Where a file is not whole, a finding tells.
            if is_whole[members].all():
                rows = marked.take(positions(members))
                yield from self._of_bucket(rows, run.branch, reference.path, hashes=hashes)

    def _of_bucket(
        self,
        rows: pa.Table,
        branch: str,
        named_by: str,
        *,
        hashes: dict[_Place, tuple[str, int]] | None,
    ) -> Iterator[Piece]:
        place = (rows["partition"][0].as_py(), rows["bucket"][0].as_py())
        directory = self.parts.split_files.bucket_directory(*place)
        path, _ = (hashes or {}).get(place, (None, 0))
        if hashes is not None and path is None:
            self.report.add(Code.HASH_INDEX, directory, f"it has no hash index ({named_by})")
        layout = TableLayout.of(self.parts.options, self.parts.texts, has_primary_key=True)
        chosen = self._sections(rows, with_all=path is not None)
        if chosen:
            yield BucketReading(
                branch=branch,
                directory=directory,
                named_by=named_by,
                sections=chosen,
                has_newest_apart=layout.keeps_newest_apart,
                hash_index=path,
            )

    def _sections(self, rows: pa.Table, *, with_all: bool) -> tuple[SplitSection, ...]:
        """The sections of a bucket: those that are merged, or all."""
        files = self.parts.split_files.files(rows)
        return tuple(
            SplitSection(tuple(tuple(files[each] for each in run) for run in section.runs))
            for section in sections(*key_ranks(rows, self.parts.schema))
            if with_all or len(section.runs) > 1
        )

    def _of_hash_indexes(
        self, hashes: dict[_Place, tuple[str, int]], named_by: str
    ) -> Iterator[Piece]:
        for partition in sorted({partition for partition, _ in hashes}):
            found = [each for place, each in hashes.items() if place[0] == partition]
            bucket = self.parts.split_files.bucket_directory(partition, 0)
            yield HashIndexReading(
                directory=bucket.rpartition("/")[0],
                named_by=named_by,
                paths=tuple(path for path, _ in found),
                size_bytes=sum(size for _, size in found),
            )


def _hash_indexes(rows: pa.Table) -> dict[_Place, tuple[str, int]]:
    """Path and size of the hash index of each bucket."""
    names = ("index_type", "partition", "bucket", "path", "file_size")
    columns = [python_values(rows[name]) for name in names]
    return {
        (partition, bucket): (path, size)
        for kind, partition, bucket, path, size in zip(*columns, strict=True)
        if kind == HASH_INDEX
    }


def by_owner(runs: Sequence[Run], changelogs: Sequence[OwnedClaims]) -> list[OwnedClaims]:
    """The claims that are live in any state, and those of changelogs, each once."""
    found: list[OwnedClaims] = []
    seen = np.empty(0, np.int64)
    live = [
        OwnedClaims(branch=run.branch, claims=run.lifetimes["claim"].to_numpy(), is_changelog=False)
        for run in runs
    ]
    for each in (*live, *changelogs):
        claims = np.setdiff1d(each.claims, seen)
        seen = np.union1d(seen, claims)
        found.append(OwnedClaims(branch=each.branch, claims=claims, is_changelog=each.is_changelog))
    return found
