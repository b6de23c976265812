"""How rows are deleted: by -D rows where there is a key, by rewriting files where there is none.

In a table without a key but with deletion vectors, files stay, and vectors mark their rows.
"""

import numpy as np
import pyarrow as pa

from lakebed.format.predicate.expressions import Expression
from lakebed.format.snapshot import Operation, Snapshot
from lakebed.lsm.merge import DELETE
from lakebed.table.committing import commit
from lakebed.table.compaction.after_write import commit_rows
from lakebed.table.parts import TableParts
from lakebed.table.reading.scan_source import SnapshotSource
from lakebed.table.routers import rows_writer
from lakebed.table.row_changes import append_changes
from lakebed.table.row_marks import mark_matching
from lakebed.table.row_rewrites import rewrite_matching


def delete_rows(parts: TableParts, where: str | Expression) -> Snapshot | None:
    """Deletes the rows for which a condition is true; None when there is none."""
    if parts.schema.primary_keys:
        return _delete_by_key(parts, where)
    if parts.options.deletion_vectors_enabled:
        return _delete_by_marks(parts, where)
    return _delete_by_rewrite(parts, where)


def _delete_by_key(parts: TableParts, where: str | Expression) -> Snapshot | None:
    """Writes a -D row for each matching row; the merge does the rest."""
    base = parts.write_base()
    # The snapshot that the sequence numbers go on from: a row that came later is newer than its -D.
    scan = parts.scan(SnapshotSource(snapshot=base.snapshot), where=where)
    with rows_writer(parts, base) as rows:
        for batch in scan.to_batches():
            kinds = np.full(batch.num_rows, DELETE, np.int8)
            rows.add_aligned(pa.Table.from_batches([batch]), kinds)
        messages = rows.finish()
    changes = append_changes(parts, messages, base=base, operation=Operation.DELETE)
    return commit_rows(parts, changes, messages)


def _delete_by_marks(parts: TableParts, where: str | Expression) -> Snapshot | None:
    """Marks each matching row of an append table in a deletion vector."""
    base = parts.rewrite_base()
    messages = [] if base.snapshot is None else mark_matching(parts, base.snapshot, where)
    changes = append_changes(parts, messages, base=base, operation=Operation.DELETE)
    return commit(parts, changes, messages)


def _delete_by_rewrite(parts: TableParts, where: str | Expression) -> Snapshot | None:
    """Rewrites each append file that holds a matching row, less those rows."""
    base = parts.write_base()
    messages = rewrite_matching(
        parts, base, where, change=lambda rows, gone: rows.filter(pa.array(~gone))
    )
    changes = append_changes(parts, messages, base=base, operation=Operation.DELETE)
    return commit(parts, changes, messages)
