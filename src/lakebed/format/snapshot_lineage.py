"""Which snapshot does a snapshot follow?

The one before it by its id, unless a rollback took that one away, or it was put by who paused in
between. So the uuid of a snapshot that Lakebed writes says which one it follows: its first half is
random, and its second one a digest of that half, the snapshot's id and the uuid of its base.
Version 8 of uuids is for such.
"""

import hashlib
from collections.abc import Iterable

from lakebed.format.snapshot import Snapshot

WRITER_PREFIX = "lakebed-"
"""How `writerVersion` of Lakebed's snapshots begins."""

_VERSION_AT, _VERSION = 14, "8"
_HALF = 18
_DIGEST_DIGITS = 15


def uuid_after(base: Snapshot | None, fresh_uuid: str) -> str:
    """The uuid of the snapshot that follows another.

    Args:
        base: The other one; None for the first snapshot of a table, whose uuid says nothing.
        fresh_uuid: A random uuid.
    """
    if base is None or base.uuid is None:
        return fresh_uuid
    half = f"{fresh_uuid[:_VERSION_AT]}{_VERSION}{fresh_uuid[_VERSION_AT + 1 : _HALF]}"
    return half + _second_half(half, base.id + 1, base.uuid)


def is_after(snapshot: Snapshot, base: Snapshot) -> bool | None:
    """Whether a snapshot says that it follows another; None where it does not say which one."""
    uuid = snapshot.uuid or ""
    is_ours = (snapshot.writer_version or "").startswith(WRITER_PREFIX)
    if not is_ours or uuid[_VERSION_AT : _VERSION_AT + 1] != _VERSION:
        return None
    return uuid[_HALF:] == _second_half(uuid[:_HALF], snapshot.id, base.uuid)


def _second_half(half: str, snapshot_id: int, base_uuid: str | None) -> str:
    digest = hashlib.sha256(f"{half}:{snapshot_id}:{base_uuid}".encode()).hexdigest()
    return f"-8{digest[:3]}-{digest[3:_DIGEST_DIGITS]}"


def runs_of(snapshots: Iterable[Snapshot]) -> list[list[Snapshot]]:
    """Ascending snapshots, split where one does not follow the one before it.

    Within a run, what the first one reads and what the others add is what any of them reads.
    """
    runs: list[list[Snapshot]] = []
    for snapshot in snapshots:
        before = runs[-1][-1] if runs else None
        if (
            before is not None
            and before.id + 1 == snapshot.id
            and is_after(snapshot, before) is not False
        ):
            runs[-1].append(snapshot)
        else:
            runs.append([snapshot])
    return runs
