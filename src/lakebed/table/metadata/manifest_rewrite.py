"""Which manifests of a snapshot are written anew so that it has few, and what goes into them?

Pure, over what the manifests say of their live files; reading and writing is the commit's. What is
written has live files only, so ADDs and DELETEs that met are gone for good.

    without order   a manifest that has the target size and only live files stays; those between two
                    such ones are written together, unless that would not make them fewer
    by partition    manifests that follow each other stay as they are; else all are written, files
                    in the order of a partition column, so that a plan opens those of its partitions

          dt  1 . 3   2 . 4   4 . 9         1 . 2   3 . 4   4 . 9
              [A]     [B]     [C]      to   [D]     [E]     [F]

The files of a partition keep their order: it decides between rows of one key and one sequence
number.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.manifest import ManifestFileMeta

Numbers = npt.NDArray[np.int64]


class EntrySink(Protocol):
    """Makes manifests of entries."""

    def write(self, entries: pa.Table) -> None:
        """Takes the next entries, as `manifest.ENTRY_COLUMNS`."""
        ...

    def finish(self) -> list[ManifestFileMeta]:
        """What a manifest list says of the manifests."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFiles:
    """Where the live files of a snapshot stand in its manifests.

    Attributes:
        manifests: The manifests.
        numbers: For each live file, which manifest; in their order.
        rows: Which entry of it.
        ranks: Which partition, by a column that manifests are sorted by; None for no order.
    """

    manifests: Sequence[ManifestFileMeta]
    numbers: Numbers
    rows: Numbers
    ranks: Numbers | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """A manifest that is written anew.

    Attributes:
        meta: What the manifest list says of it.
        live_files: How many of its files are live.
        why: The reason, for users.
    """

    meta: ManifestFileMeta
    live_files: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RewrittenRun:
    """Manifests that stand one after the other and are written anew together.

    Attributes:
        manifests: The manifests.
        numbers: For each of their live files, in the order in which they are written, which of the
            manifests it stands in.
        rows: Which entry of it.
    """

    manifests: Sequence[Rewritten]
    numbers: Numbers
    rows: Numbers

    def batches(
        self, read: Callable[[ManifestFileMeta], pa.Table], *, batch_bytes: int
    ) -> Iterator[pa.Table]:
        """The entries in their order, those of about so many bytes of manifests at a time."""
        ends = self._batch_ends(batch_bytes)
        for start, stop in zip([0, *ends], ends, strict=False):
            numbers, rows = self.numbers[start:stop], self.rows[start:stop]
            grouped = np.argsort(numbers, kind="stable")
            found, firsts = np.unique(numbers[grouped], return_index=True)
            tables = [
                read(self.manifests[number].meta).take(rows[places])
                for number, places in zip(
                    found.tolist(), np.split(grouped, firsts[1:]), strict=True
                )
            ]
            places = np.empty_like(grouped)
            places[grouped] = np.arange(len(grouped))
            yield pa.concat_tables(tables).take(places)

    def _batch_ends(self, batch_bytes: int) -> list[int]:
        if not len(self.numbers):
            return []
        metas = [each.meta for each in self.manifests]
        sizes = np.array([meta.file_size / max(_entry_count(meta), 1) for meta in metas])
        read = np.cumsum(sizes[self.numbers])
        cuts = np.flatnonzero(np.diff((read // batch_bytes).astype(np.int64))) + 1
        return [*cuts.tolist(), len(self.numbers)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestRewrite:
    """A plan.

    Attributes:
        pieces: In the order of the manifest list, manifests that stay and runs of others.
        batch_bytes: About how many bytes of manifests are read before they are written.
    """

    pieces: Sequence[ManifestFileMeta | RewrittenRun]
    batch_bytes: int

    @property
    def rewritten(self) -> list[Rewritten]:
        """The manifests that are written anew."""
        runs = [piece for piece in self.pieces if isinstance(piece, RewrittenRun)]
        return [each for run in runs for each in run.manifests]

    def write(
        self, read: Callable[[ManifestFileMeta], pa.Table], new_sink: Callable[[], EntrySink]
    ) -> list[ManifestFileMeta]:
        """Writes the runs, batch by batch; tells of all manifests that are left.

        Args:
            read: Gives the entries of a manifest.
            new_sink: Makes manifests of the entries of a run.
        """
        left: list[ManifestFileMeta] = []
        for piece in self.pieces:
            if not isinstance(piece, RewrittenRun):
                left.append(piece)
                continue
            sink = new_sink()
            for entries in piece.batches(read, batch_bytes=self.batch_bytes):
                sink.write(entries)
            left += sink.finish()
        return left


def may_gain(metas: Sequence[ManifestFileMeta], *, target_size_bytes: int) -> bool:
    """Whether a rewrite without order could gain anything, by what a manifest list says."""
    if any(meta.num_deleted_files for meta in metas):
        return True
    runs = groupby(metas, key=lambda meta: meta.file_size < target_size_bytes)
    return any(
        _become_fewer(list(run), target_size_bytes=target_size_bytes)
        for is_small, run in runs
        if is_small
    )


def planned_rewrite(
    live: LiveFiles, *, target_size_bytes: int, batch_bytes: int
) -> ManifestRewrite | None:
    """What to write anew; None where nothing would be gained.

    Args:
        live: The live files.
        target_size_bytes: `manifest.target-file-size`.
        batch_bytes: About how many bytes of manifests may be read before they are written.
    """
    counts = np.bincount(live.numbers, minlength=len(live.manifests)).tolist()
    manifests = [
        Rewritten(
            meta=meta,
            live_files=count,
            why=_reason(meta, count, target_size_bytes=target_size_bytes),
        )
        for meta, count in zip(live.manifests, counts, strict=True)
    ]
    pieces: list[ManifestFileMeta | RewrittenRun] = []
    if live.ranks is not None:
        if _follow_each_other(live) and not _is_gain(
            manifests, target_size_bytes=target_size_bytes
        ):
            return None
        pieces.append(_run(live, manifests, start=0))
    else:
        start = 0
        for is_free, members in groupby(manifests, key=lambda each: not each.why):
            run = list(members)
            if is_free or not _is_gain(run, target_size_bytes=target_size_bytes):
                pieces += [each.meta for each in run]
            else:
                pieces.append(_run(live, run, start=start))
            start += len(run)
    found = ManifestRewrite(pieces=pieces, batch_bytes=batch_bytes)
    return found if found.rewritten else None


def _run(live: LiveFiles, manifests: Sequence[Rewritten], *, start: int) -> RewrittenRun:
    """The run of manifests from a number on."""
    first, stop = np.searchsorted(live.numbers, [start, start + len(manifests)])
    numbers, rows = live.numbers[first:stop] - start, live.rows[first:stop]
    if live.ranks is not None:
        order = np.argsort(live.ranks[first:stop], kind="stable")
        numbers, rows = numbers[order], rows[order]
    named = [replace(each, why=each.why or "manifests are sorted as a whole") for each in manifests]
    return RewrittenRun(manifests=named, numbers=numbers, rows=rows)


def _reason(meta: ManifestFileMeta, live_files: int, *, target_size_bytes: int) -> str:
    """Why it may be written anew; empty where it is as it should be."""
    gone = _entry_count(meta) - live_files
    if gone:
        return f"{gone} of its {_entry_count(meta)} entries are of files that are gone"
    if meta.file_size < target_size_bytes:
        return f"it has {meta.file_size} bytes, and manifest.target-file-size is more"
    return ""


def _is_gain(manifests: Sequence[Rewritten], *, target_size_bytes: int) -> bool:
    """Whether entries go away when manifests are written together, or small ones become fewer."""
    if any(_entry_count(each.meta) > each.live_files for each in manifests):
        return True
    metas = [each.meta for each in manifests]
    return _become_fewer(metas, target_size_bytes=target_size_bytes)


def _become_fewer(metas: Sequence[ManifestFileMeta], *, target_size_bytes: int) -> bool:
    small = [meta.file_size for meta in metas if meta.file_size < target_size_bytes]
    return -(-sum(small) // target_size_bytes) < len(small)


def _follow_each_other(live: LiveFiles) -> bool:
    """Whether each manifest begins where those before it end, or later."""
    assert live.ranks is not None
    present, of_file = np.unique(live.numbers, return_inverse=True)
    lows = np.full(len(present), np.iinfo(np.int64).max)
    highs = np.full(len(present), -1)
    np.minimum.at(lows, of_file, live.ranks)
    np.maximum.at(highs, of_file, live.ranks)
    order = np.lexsort((highs, lows))
    return bool((lows[order][1:] >= highs[order][:-1]).all())


def _entry_count(meta: ManifestFileMeta) -> int:
    return meta.num_added_files + meta.num_deleted_files
