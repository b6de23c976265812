"""Which files tell the difference of two snapshots, and which of them together?

Files that both snapshots have are left out. The rest of a bucket, of both sides, is cut into
sections as if it were one: then a key stands in one section, whichever side has it.
"""

import numpy as np
import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.lsm.runs import sections
from lakebed.table.planning.key_ranks import key_ranks
from lakebed.table.planning.plan import Planner
from lakebed.table.planning.split import Split, SplitSection

_IDENTITY = ("partition", "bucket", "level", "file_name")


def without_common_files(before: pa.Table, after: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The live entries of each of two snapshots that the other lacks."""
    side = pa.array(np.repeat([0, 1], [before.num_rows, after.num_rows]))
    both = pa.concat_tables([before.select(_IDENTITY), after.select(_IDENTITY)])
    counts = (
        both.append_column("side", side)
        .group_by(list(_IDENTITY))
        .aggregate([("side", "count")])
        .filter(pc.field("side_count") > 1)
    )
    # A file's name is its own, so that of the few files that moved between levels decides little.
    common = pa.table({name: counts.column(name) for name in _IDENTITY})
    return _anti_join(before, common), _anti_join(after, common)


def _anti_join(entries: pa.Table, common: pa.Table) -> pa.Table:
    rows = pa.table({"row": np.arange(entries.num_rows)})
    keyed = entries.select(_IDENTITY).append_column("row", rows.column("row"))
    left = keyed.join(common, keys=list(_IDENTITY), join_type="left anti")
    return entries.take(left.column("row").sort())


def diff_splits(planner: Planner, before: pa.Table, after: pa.Table) -> list[Split]:
    """One split a section; files of the older snapshot have the ordinals below their count."""
    # A side without any deletion vector may lack their columns.
    entries = pa.concat_tables([before, after], promote_options="default")
    if entries.num_rows == 0:
        return []
    lows, highs = key_ranks(entries, planner.table_schema)
    files = planner.split_files.files(entries)
    return [
        Split(
            partition=group.partition,
            bucket=group.bucket,
            sections=(
                SplitSection(tuple(tuple(files[group.rows[f]] for f in run) for run in found.runs)),
            ),
            is_raw=False,
        )
        for group in planner.split_files.groups(entries)
        for found in sections([lows[i] for i in group.rows], [highs[i] for i in group.rows])
    ]
