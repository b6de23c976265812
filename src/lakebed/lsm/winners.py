"""Which rows of a section's files survive the merge, as one mask a file.

Some merge engines pick one of a key's rows and never look at values (`Pick`). Then a mask is found
from key columns alone, so values are decoded later, file by file, and only where a row of the file
survives. A file that lost every row is never opened for its values. The masks take one byte a row
and are the only part that grows with the section.
"""

from collections.abc import Sequence

import numpy as np

from lakebed.format.key_value import VALUE_KIND
from lakebed.lsm.merge import Pick, Positions, drop_deletes
from lakebed.lsm.section_plan import Mask, RowOrder, SectionFile, SectionPlan
from lakebed.lsm.windows import grouped_rows


def winner_masks(
    files: Sequence[SectionFile],
    *,
    order: RowOrder,
    pick: Pick,
    budget_bytes: int,
    keep_deletes: bool = False,
) -> list[Mask]:
    """One mask a file, in the order given: True where the row survives.

    Args:
        files: All files of one section, those of one run in key order.
        order: How rows are ordered.
        pick: The merge engine: from groups of rows of a key to the positions that win.
        budget_bytes: Memory that sorting may take, besides one byte a row for the masks
            (`lakebed.merge.memory`).
        keep_deletes: Whether a -U or -D row that wins survives.
    """
    if len({file.run for file in files}) == 1:
        return [_kept_of_one_run(file, keep_deletes=keep_deletes) for file in files]
    plan = SectionPlan.of(files, order=order)
    mask = np.zeros(plan.row_count, np.bool_)
    for grouped in grouped_rows(plan, budget_bytes=budget_bytes):
        winners: Positions = pick(grouped.groups, grouped.kinds)
        if grouped.kinds is not None and not keep_deletes:
            winners = drop_deletes(winners, grouped.kinds)
        mask[grouped.positions[winners]] = True
    return [mask[start : start + file.row_count] for file, start in plan.by_key]


def _kept_of_one_run(file: SectionFile, *, keep_deletes: bool) -> Mask:
    """A run holds a key once, so only delete rows fall away."""
    removed = file.removed()
    kept = np.ones(file.row_count, np.bool_) if removed is None else ~removed
    if file.has_deletes and not keep_deletes:
        kinds = file.read_columns([VALUE_KIND.name]).column(VALUE_KIND.name).to_numpy()
        rows = np.flatnonzero(kept)
        kept = np.zeros(file.row_count, np.bool_)
        kept[drop_deletes(rows, kinds)] = True
    return kept
