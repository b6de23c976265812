"""Do the live files of each state fit together: levels, bucket counts, row ids?

Only what a state adds can break what held before it, so of each state the buckets are looked at to
which it adds.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lakebed.errors import LakebedError
from lakebed.format.paths import POSTPONE_BUCKET
from lakebed.format.schema import TableSchema
from lakebed.table.checking.claimed_files import ClaimedFiles, Numbers
from lakebed.table.checking.findings import Code, Report
from lakebed.table.checking.lifetimes import Run
from lakebed.table.planning.key_ranks import key_ranks

Mask = npt.NDArray[np.bool_]

_TRACKED = "row-tracking.enabled"
_EVOLVED = "data-evolution.enabled"


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutCheck:
    """Looks at the files of runs.

    Attributes:
        files: What is claimed.
        schema: The table's schema.
        report: Takes what is wrong.
    """

    files: ClaimedFiles
    schema: TableSchema
    report: Report

    def check(self, run: Run) -> None:
        """Looks at the files of a run, in each of its states."""
        if not run.lifetimes.height:
            return
        lives = _Lives(*(run.lifetimes[name].to_numpy() for name in ("claim", "born", "died")))
        if self.schema.primary_keys:
            self._check_levels(lives)
        self._check_bucket_counts(lives)
        is_tracked = self.schema.options.get(_TRACKED) == "true"
        if is_tracked and self.schema.options.get(_EVOLVED) != "true":
            self._check_row_ids(run, lives)

    def _check_levels(self, lives: "_Lives") -> None:
        levels = self.files.numbers("level")[lives.claims]
        lives = lives.kept(levels > 0)
        if not len(lives.claims):
            return
        chosen, places = np.unique(lives.claims, return_inverse=True)
        try:
            ranks = key_ranks(self.files.rows.take(chosen), self.schema)
        except LakebedError as error:
            self.report.add(Code.KEY_RANGE, self.files.manifest(int(chosen[0])), str(error))
            return
        lows, highs = (np.asarray(side)[places.reshape(-1)] for side in ranks)
        span = int(highs.max(initial=0)) + 1
        level_count = int(levels.max()) + 1
        runs = self.files.places[lives.claims] * level_count + levels[levels > 0]
        # Keys of one sorted run are all above those of the run before.
        lows, highs = runs * span + lows, runs * span + highs
        for alive in lives.touched(runs):
            order = alive[np.lexsort((highs[alive], lows[alive]))]
            bounds = np.maximum.accumulate(highs[order])
            for row in np.flatnonzero(lows[order][1:] <= bounds[:-1]).tolist():
                other = int(np.argmax(highs[order[: row + 1]]))
                before, after = (int(lives.claims[order[each]]) for each in (other, row + 1))
                level = int(self.files.numbers("level")[after])
                problem = (
                    f"its keys overlap those of {self.files.path(before)}, on level {level}, too"
                )
                self.report.add(Code.LEVELS_OVERLAP, self.files.path(after), problem)

    def _check_bucket_counts(self, lives: "_Lives") -> None:
        totals = self.files.numbers("total_buckets")
        buckets = self.files.numbers("bucket")
        outside = (totals > 0) & ((buckets < 0) | (buckets >= totals))
        outside |= (totals <= 0) & (buckets < 0) & (buckets != POSTPONE_BUCKET)
        for claim in np.unique(lives.claims[outside[lives.claims]]).tolist():
            problem = f"its bucket is {buckets[claim]}, of {totals[claim]}"
            self.report.add(Code.BUCKET_OUT_OF_RANGE, self.files.path(claim), problem)
        fixed = lives.kept(totals[lives.claims] > 0)
        of_partition = self.files.partitions[fixed.claims]
        pairs = np.unique(np.column_stack([of_partition, totals[fixed.claims]]), axis=0)
        several, counts = np.unique(pairs[:, 0], return_counts=True)
        doubtful = np.isin(of_partition, several[counts > 1])
        if not doubtful.any():
            return
        fixed, of_partition = fixed.kept(doubtful), of_partition[doubtful]
        for alive in fixed.touched(of_partition):
            claims = fixed.claims[alive]
            for partition in np.unique(of_partition[alive]).tolist():
                members = claims[of_partition[alive] == partition]
                found = np.unique(totals[members])
                if len(found) > 1:
                    odd = int(members[totals[members] != totals[members[0]]][0])
                    problem = (
                        f"files of its partition have bucket counts {', '.join(map(str, found))}"
                    )
                    self.report.add(Code.BUCKET_COUNTS, self.files.path(odd), problem)

    def _check_row_ids(self, run: Run, lives: "_Lives") -> None:
        firsts, counts = (self.files.numbers(name) for name in ("first_row_id", "row_count"))
        has_ids = self.files.rows["first_row_id"].is_valid().to_numpy()
        lives = lives.kept(has_ids[lives.claims])
        for alive in lives.touched(np.zeros(len(lives.claims), np.int64)):
            claims = lives.claims[alive]
            claims = claims[np.argsort(firsts[claims], kind="stable")]
            ends = firsts[claims] + counts[claims]
            for row in np.flatnonzero(firsts[claims][1:] < ends[:-1]).tolist():
                other = self.files.path(int(claims[row]))
                problem = f"its first rows have the row ids of the last ones of {other}"
                self.report.add(Code.ROW_IDS, self.files.path(int(claims[row + 1])), problem)
            last = int(ends.max(initial=0))
            reference = run.states[int(lives.born[alive].max())].reference
            given = reference.snapshot.next_row_id
            if given is not None and given < last:
                problem = f"nextRowId is {given}, and there are row ids up to {last - 1}"
                self.report.add(Code.ROW_IDS, reference.path, problem)


@dataclass(frozen=True, slots=True)
class _Lives:
    """Claims, and of which states they are live."""

    claims: Numbers
    born: Numbers
    died: Numbers

    def kept(self, mask: Mask) -> "_Lives":
        """Some of them."""
        return _Lives(self.claims[mask], self.born[mask], self.died[mask])

    def touched(self, groups: Numbers) -> Iterator[Numbers]:
        """Of each state that adds something, the live ones of the groups to which it adds."""
        for state in np.unique(self.born).tolist():
            changed = np.unique(groups[self.born == state])
            alive = (self.born <= state) & (state < self.died) & np.isin(groups, changed)
            yield np.flatnonzero(alive)
