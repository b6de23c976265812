"""How does a table go on whose snapshots have a gap?

Engines that go by the hint `EARLIEST` alone fail where a snapshot behind it is missing. Lakebed
lists the snapshots, and needs no such hint.
"""

from lakebed.errors import InvalidArgumentError
from lakebed.table.parts import TableParts


def repair_earliest_snapshot(parts: TableParts, snapshot_id: int) -> int:
    """Writes the hint anew; what was the oldest snapshot by it.

    Args:
        parts: The table, or one of its branches.
        snapshot_id: The first of the snapshots that follow one another up to the newest.

    Raises:
        InvalidArgumentError: It is not.
    """
    ids = parts.snapshots.list_ids()
    earliest = parts.snapshots.earliest_id()
    if not ids or earliest is None:
        raise InvalidArgumentError(f"{parts.paths.location} has no snapshot")
    if snapshot_id < earliest:
        raise InvalidArgumentError(
            f"snapshot_id is {snapshot_id}, before {earliest}, which is the oldest snapshot"
        )
    following = [each for each in ids if each >= snapshot_id]
    if following != list(range(snapshot_id, ids[-1] + 1)) or not following:
        raise InvalidArgumentError(
            f"snapshot_id is {snapshot_id}, from which on snapshots do not follow one another up to"
            f" {ids[-1]}; there is {', '.join(map(str, following)) or 'none'}"
        )
    if snapshot_id != earliest and snapshot_id - 1 in ids:
        raise InvalidArgumentError(
            f"snapshot_id is {snapshot_id}, and there is snapshot {snapshot_id - 1}; give the first"
            " one behind a gap"
        )
    parts.file_io.write(parts.paths.earliest_hint, str(snapshot_id).encode())
    return earliest
