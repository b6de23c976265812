"""Which files of a snapshot does a plan look at: manifests read, filtered and netted in one pass.

What can be said of an entry by itself is said where its manifest is decoded, in as many threads as
reading may use: only the columns asked for are decoded, and only entries that matter go on to be
netted. A step may look at an ADD alone (a DELETE whose ADD was dropped takes nothing back), or at
both kinds, if it goes by what an ADD and its DELETE share: partition, bucket, level.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

import pyarrow as pa

from lakebed.format.avro.codec import RowChoice
from lakebed.format.manifest import ManifestFileMeta, entry_schema
from lakebed.table.metadata.netting import IDENTITY_COLUMNS, ManifestPart, Netting, by_kind
from lakebed.table.metadata.plan_step import EntryStep, Mask, PlanStep, add_up, apply_steps, choose

ReadEntries = Callable[[ManifestFileMeta, frozenset[str] | None, RowChoice | None], pa.Table]

_MANY_ENTRIES = 100_000
PLACE_COLUMNS = frozenset({"partition", "bucket", "total_buckets", "level"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveScan:
    """What is wanted of the manifests.

    Attributes:
        columns: Of `ENTRY_COLUMNS`; None for all.
        steps: Steps that treat an ADD and its DELETE alike; they see `PLACE_COLUMNS` alone.
        places_first: Whether the steps are asked before anything else of a manifest is decoded,
            which pays where they leave little.
        add_steps: Steps over ADD entries.
        shrink: What is held of ADD entries: other columns of the same rows, the file name among
            them.
    """

    columns: frozenset[str] | None = None
    steps: Sequence[EntryStep] = ()
    places_first: bool = False
    add_steps: Sequence[EntryStep] = ()
    shrink: Callable[[pa.Table], pa.Table] | None = None

    def live_files(
        self,
        metas: Sequence[ManifestFileMeta],
        *,
        read: ReadEntries,
        threads: int,
        source: str,
    ) -> tuple[pa.Table, list[PlanStep]]:
        """The live files, in the order of the manifests, and what the steps kept.

        Args:
            metas: The manifests, oldest first.
            read: Gives the entries of a manifest; called from several threads.
            threads: How many manifests are decoded at once.
            source: The table, for errors.

        Raises:
            CorruptTableError: A manifest is damaged, or a file was added twice.
        """
        wanted = None if self.columns is None else self.columns | set(IDENTITY_COLUMNS)
        netting = Netting(source=source)
        told: list[tuple[PlanStep, ...]] = []
        netted = 0
        for part, steps in _in_threads(
            lambda meta: self._part(meta, wanted, read=read), metas[::-1], threads=threads
        ):
            netting.add(part)
            told.append(steps)
            netted += part.adds.num_rows + len(part.delete_prints.rows)
        live = netting.finish()
        if netted > _MANY_ENTRIES:
            # Arrow keeps what is freed for the threads that allocated it, now gone.
            pa.default_memory_pool().release_unused()
        if live is None:
            live = entry_schema(wanted).empty_table()
            live = live if self.shrink is None else self.shrink(live)
        kept = add_up([*self.steps, *self.add_steps], told)
        return live, [*kept, PlanStep("live", live.num_rows, netted)]

    def _part(
        self, meta: ManifestFileMeta, wanted: frozenset[str] | None, *, read: ReadEntries
    ) -> tuple[ManifestPart, tuple[PlanStep, ...]]:
        told: list[tuple[PlanStep, ...]] = []

        def keep(entries: pa.Table) -> Mask:
            kept, steps = choose(entries, self.steps)
            told.append(steps)
            return kept

        if self.places_first:
            entries = read(meta, wanted, RowChoice(PLACE_COLUMNS, keep))
        else:
            entries = read(meta, wanted, None)
            kept = keep(entries)
            entries = entries if kept.all() else entries.filter(pa.array(kept))
        adds, deletes = by_kind(entries)
        adds, more = apply_steps(adds, self.add_steps)
        part = ManifestPart.of(adds, deletes)
        if self.shrink is not None:
            part = replace(part, adds=self.shrink(adds))
        return part, (*add_up(self.steps, told), *more)


def _in_threads(
    work: Callable[[ManifestFileMeta], tuple[ManifestPart, tuple[PlanStep, ...]]],
    metas: Sequence[ManifestFileMeta],
    *,
    threads: int,
) -> Iterator[tuple[ManifestPart, tuple[PlanStep, ...]]]:
    """The results in order; few are done ahead, so that what is held does not grow."""
    if threads < 2 or len(metas) < 2:
        yield from map(work, metas)
        return
    waiting: deque[Future[tuple[ManifestPart, tuple[PlanStep, ...]]]] = deque()
    pool = ThreadPoolExecutor(min(threads, len(metas)))
    try:
        for meta in metas:
            waiting.append(pool.submit(work, meta))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
