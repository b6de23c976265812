"""Which snapshots after one are overwrites?

Snapshots are many where they are kept for long, and expiry asks after each commit. So a hint says
it of those that were looked at once. It is believed as long as the newest snapshot that it knows is
there and still the same: then nobody rolled back beyond it.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lakebed.errors import CorruptTableError, NotFoundError
from lakebed.format.json_text import format_json, parse_json_object
from lakebed.format.snapshot import CommitKind, Snapshot
from lakebed.table.parts import TableParts
from lakebed.table.spreading import Spread

_SNAPSHOT, _DIGEST, _OVERWRITES = "snapshot", "digest", "overwrites"
# From how many snapshots on that the hint does not know it is written anew.
_UNKNOWN_MAX = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hint:
    """What is known.

    Attributes:
        newest: Up to which snapshot.
        overwrites: Ids of the overwrites among them.
    """

    newest: int
    overwrites: frozenset[int]


def overwrites_among(
    parts: TableParts, ids: Sequence[int], *, spread: Spread
) -> tuple[Snapshot, ...]:
    """The overwrites among snapshots, ascending.

    Args:
        parts: The table.
        ids: Every snapshot after some one, ascending.
        spread: For many snapshots.

    Raises:
        CorruptTableError: A snapshot cannot be read.
        NotFoundError: It is gone.
    """
    hint = _read(parts, ids)
    unknown = [each for each in ids if hint is None or each > hint.newest]
    known = [each for each in ids if hint and each in hint.overwrites]
    loaded = list(spread(parts.snapshots.load, [*known, *unknown]))
    found = tuple(each for each in loaded if each.commit_kind is CommitKind.OVERWRITE)
    if len(unknown) > _UNKNOWN_MAX:
        _write(parts, loaded[-1], (each.id for each in found))
    return found


def _read(parts: TableParts, ids: Sequence[int]) -> _Hint | None:
    """The hint; None where there is none that can be believed."""
    path = parts.paths.overwrites_hint
    try:
        members = parse_json_object(parts.file_io.read(path), path)
    except (NotFoundError, CorruptTableError):
        return None
    newest, overwrites = members.get(_SNAPSHOT), members.get(_OVERWRITES)
    if not isinstance(newest, int) or newest not in ids or not isinstance(overwrites, list):
        return None
    found = parts.snapshots.find(newest)
    if found is None or members.get(_DIGEST) != _digest(found):
        return None
    return _Hint(newest=newest, overwrites=frozenset(e for e in overwrites if isinstance(e, int)))


def _write(parts: TableParts, newest: Snapshot, overwrites: Iterable[int]) -> None:
    members = {_SNAPSHOT: newest.id, _DIGEST: _digest(newest), _OVERWRITES: list(overwrites)}
    parts.file_io.write(parts.paths.overwrites_hint, format_json(members).encode())


def _digest(snapshot: Snapshot) -> str:
    return hashlib.sha256(snapshot.to_json()).hexdigest()
