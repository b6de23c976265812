"""What do manifest lists and manifests say, and does a list say the truth of its manifests?

Each file is read once. Of the entries of a manifest little is held: who is added or deleted, as
fingerprints, and the number of the *claim* that is made of an added file, which is all that its
entry says. Manifests that were merged repeat what others said, so a claim is held once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from lakebed.errors import LakebedError
from lakebed.format.arrow.typing import python_values
from lakebed.format.data_file_meta import FileKind, SimpleStats
from lakebed.format.manifest import ENTRY_COLUMNS, ManifestFileMeta
from lakebed.format.manifest_file import read_manifest, read_manifest_list
from lakebed.format.statistics.stored import StatsColumns, bounds_from_stats
from lakebed.table.checking.findings import Code, Report
from lakebed.table.checking.known_bounds import contradicts
from lakebed.table.checking.stored_files import GONE, UNKNOWN, StoredFiles
from lakebed.table.metadata.manifest_writing import manifest_meta
from lakebed.table.metadata.netting import Fingerprints
from lakebed.table.parts import TableParts

Words = npt.NDArray[np.uint64]

_SCHEMA = {
    "first": pl.UInt64,
    "second": pl.UInt64,
    "sign": pl.Int64,
    "rows": pl.Int64,
    "claim": pl.Int64,
}
NO_ENTRIES = pl.DataFrame(schema=_SCHEMA)
"""Entries of no manifest: fingerprint, 1 for ADD and -1 for DELETE, rows, number of the claim."""

_CLAIMED = [name for name in ENTRY_COLUMNS.names if name not in {"kind", "embedded_file_index"}]
_LINE = ("num_added_files", "num_deleted_files", "schema_id")
_RANGES = ("min_bucket", "max_bucket", "min_level", "max_level", "min_row_id", "max_row_id")


@dataclass(frozen=True, slots=True)
class _Manifest:
    """A manifest that was read: its entries, and what a list should say of it."""

    entries: pl.DataFrame
    truth: ManifestFileMeta | None


class ManifestReading:
    """Reads manifests and lists of one table, each once."""

    def __init__(self, parts: TableParts, stored: StoredFiles, report: Report) -> None:
        """Has read nothing yet."""
        self._parts = parts
        self._stored = stored
        self._report = report
        self._lists: dict[tuple[str, int | None], list[ManifestFileMeta] | None] = {}
        self._manifests: dict[str, _Manifest] = {}
        self._checked: set[ManifestFileMeta] = set()
        self._claims = _Claims()

    def read_lists(self, named: Iterable[tuple[str, int | None]]) -> None:
        """Reads manifest lists, by name and the size that is said, so that `listed` has them."""
        new = [each for each in dict.fromkeys(named) if each not in self._lists]
        self._lists.update(dict.fromkeys(new))
        path_of = self._parts.paths.manifest
        whole = [(name, size) for name, size in new if self.is_whole(path_of(name), size)]
        self._lists.update(zip(whole, self._stored.spread(self._read_list, whole), strict=True))

    def listed(self, name: str, size: int | None) -> list[ManifestFileMeta] | None:
        """The manifests that a list names; None where it cannot be read."""
        self.read_lists([(name, size)])
        return self._lists[name, size]

    def read_manifests(self, metas: Iterable[ManifestFileMeta]) -> None:
        """Reads manifests, so that `entries` has them."""
        lines = [each for each in dict.fromkeys(metas) if each not in self._checked]
        self._checked.update(lines)
        path_of = self._parts.paths.manifest
        whole = [each for each in lines if self.is_whole(path_of(each.file_name), each.file_size)]
        new = {each.file_name: each for each in whole if each.file_name not in self._manifests}
        decoded = self._stored.spread(self._read_manifest, new.values())
        for name, entries in zip(new, decoded, strict=True):
            if entries is not None:
                self._manifests[name] = self._held(entries)
        for meta in whole:
            self._check_line(meta)

    def has_read(self, metas: Sequence[ManifestFileMeta]) -> bool:
        """Whether manifests are among those that were read and can be."""
        return all(meta.file_name in self._manifests for meta in metas)

    def entries(self, metas: Sequence[ManifestFileMeta]) -> pl.DataFrame | None:
        """The entries of manifests, in their order; None where one cannot be read."""
        self.read_manifests(metas)
        if not self.has_read(metas):
            return None
        frames = (self._manifests[meta.file_name].entries for meta in metas)
        return pl.concat([NO_ENTRIES, *frames])

    def claims(self) -> pa.Table:
        """Every claim by its number: `ENTRY_COLUMNS` less kind and index, and `manifest`."""
        return self._claims.table()

    def file_names(self, metas: Sequence[ManifestFileMeta], first: Words) -> list[str]:
        """Names of the files of some fingerprints; for findings, since manifests are read again."""
        names: dict[str, None] = {}
        for meta in metas:
            decoded = self._read_manifest(meta)
            if decoded is not None:
                mask = np.isin(_in_order(decoded)[0], first)
                names |= dict.fromkeys(python_values(decoded["file_name"].filter(pa.array(mask))))
        return sorted(names)

    def _read_list(self, named: tuple[str, int | None]) -> list[ManifestFileMeta] | None:
        path = self._parts.paths.manifest(named[0])
        try:
            return read_manifest_list(self._parts.file_io, path)
        except LakebedError as error:
            self._report.add_error(error, path)
            return None

    def is_whole(self, path: str, size: int | None) -> bool:
        """Whether a file of metadata is there and has the size that is said; else reports it."""
        found = self._stored.size(path)
        if found == GONE:
            self._report.add(Code.MISSING_METADATA, path, "it is not there")
        elif size is not None and found not in {size, UNKNOWN}:
            problem = f"it has {found} bytes, {size} were written"
            self._report.add(Code.METADATA_SIZE, path, problem)
        else:
            return found != UNKNOWN
        return False

    def _read_manifest(self, meta: ManifestFileMeta) -> pa.Table | None:
        path = self._parts.paths.manifest(meta.file_name)
        try:
            entries = read_manifest(self._parts.file_io, path)
            # Whatever cannot be placed cannot be looked at.
            self._parts.split_files.places(entries)
        except LakebedError as error:
            self._report.add_error(error, path)
            return None
        return entries.append_column("manifest", pa.array([path] * len(entries), pa.string()))

    def _held(self, entries: pa.Table) -> _Manifest:
        signs = np.where(entries["kind"].to_numpy() == FileKind.ADD, 1, -1)
        first, second = _in_order(entries)
        claims = np.full(len(signs), -1, np.int64)
        adds = signs > 0
        claims[adds] = self._claims.add(entries.filter(pa.array(adds)))
        columns = {
            "first": first,
            "second": second,
            "sign": signs,
            "rows": signs * entries["row_count"].to_numpy(),
            "claim": claims,
        }
        fields = self._parts.schema.partition_type.fields
        truth = manifest_meta("", 0, entries, partition_fields=fields) if len(signs) else None
        return _Manifest(pl.DataFrame(columns, schema=_SCHEMA), truth)

    def _check_line(self, meta: ManifestFileMeta) -> None:
        """Whether what a list says of a manifest is so."""
        manifest = self._manifests.get(meta.file_name)
        path = self._parts.paths.manifest(meta.file_name)
        if manifest is None:
            return
        if manifest.truth is None:
            if meta.num_added_files or meta.num_deleted_files:
                self._report.add(Code.MANIFEST_COUNTS, path, "it is empty, and its list says not")
            return
        for code, names in ((Code.MANIFEST_COUNTS, _LINE), (Code.MANIFEST_BOUNDS, _RANGES)):
            for name in names:
                said, true = getattr(meta, name), getattr(manifest.truth, name)
                if said not in {None, true}:
                    problem = f"its list says {name} {said}, and it is {true}"
                    self._report.add(code, path, problem)
        wrong = self._partition_problem(meta.partition_stats, manifest.truth.partition_stats)
        if wrong:
            self._report.add(Code.MANIFEST_BOUNDS, path, wrong)

    def _partition_problem(self, said: SimpleStats, true: SimpleStats) -> str | None:
        fields = self._parts.schema.partition_type.fields
        if said == true or not fields:
            return None
        try:
            bounds, truth = (
                bounds_from_stats(_stats_columns(each), fields) for each in (said, true)
            )
        except LakebedError as error:
            return f"the bounds of its partitions cannot be read: {error}"
        wrong = [name for name in bounds if contradicts(bounds[name], truth[name]).any()]
        if not wrong:
            return None
        return f"its list says other bounds or null counts of partitions than it has: {wrong[0]}"


def _stats_columns(stats: SimpleStats) -> StatsColumns:
    return StatsColumns(
        pa.chunked_array([[stats.min_values]], pa.binary()),
        pa.chunked_array([[stats.max_values]], pa.binary()),
        pa.chunked_array([pa.array([stats.null_counts], pa.list_(pa.int64()))]),
    )


def _in_order(entries: pa.Table) -> tuple[Words, Words]:
    """The fingerprint of each entry, as two words."""
    prints = Fingerprints.of(entries)
    first, second = np.empty_like(prints.first), np.empty_like(prints.second)
    first[prints.rows] = prints.first
    second[prints.rows] = prints.second
    return first, second


class _Claims:
    """What is claimed of added files, each claim once."""

    def __init__(self) -> None:
        self._words: Words = np.empty(0, np.uint64)
        self._numbers: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self._parts: list[pa.Table] = []

    def add(self, adds: pa.Table) -> npt.NDArray[np.int64]:
        """The number of the claim of each entry."""
        words: Words = pl.DataFrame(adds.select(_CLAIMED)).hash_rows(seed=1).to_numpy()
        distinct, firsts, of_rows = np.unique(words, return_index=True, return_inverse=True)
        places = np.searchsorted(self._words, distinct)
        known = np.zeros(len(distinct), np.bool_)
        inside = places < len(self._words)
        known[inside] = self._words[places[inside]] == distinct[inside]
        numbers = np.empty(len(distinct), np.int64)
        numbers[known] = self._numbers[places[known]]
        new = ~known
        numbers[new] = np.arange(int(new.sum())) + len(self._numbers)
        self._parts.append(adds.select([*_CLAIMED, "manifest"]).take(firsts[new]))
        words_held = np.concatenate([self._words, distinct[new]])
        order = np.argsort(words_held, kind="stable")
        self._words = words_held[order]
        self._numbers = np.concatenate([self._numbers, numbers[new]])[order]
        return numbers[of_rows.reshape(-1)]

    def table(self) -> pa.Table:
        """All of them, by number."""
        empty = pa.schema([ENTRY_COLUMNS.field(name) for name in _CLAIMED]).empty_table()
        start = empty.append_column("manifest", pa.array([], pa.string()))
        return pa.concat_tables([start, *self._parts])
