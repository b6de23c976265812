"""Clocks, names and stores that a test rules."""

import itertools
import random
import uuid
from collections.abc import Callable, Mapping

from lakebed.catalog.filesystem import FilesystemCatalog
from lakebed.storage.file_io import FileIO
from lakebed.table.session import Effects, Session
from lakebed.table.table import Table

EPOCH_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z
WAREHOUSE = "memory:/lake"


def fixed_effects(seed: int = 0, *, sleeps: list[float] | None = None) -> Effects:
    """Time goes on by a millisecond at each look, uuids come from a seed, nobody waits."""
    ticks = itertools.count(EPOCH_MS)
    chance = random.Random(seed)
    waited = [] if sleeps is None else sleeps
    return Effects(
        clock=lambda: next(ticks),
        fresh_uuid=lambda: str(uuid.UUID(int=chance.getrandbits(128), version=4)),
        sleep_ms=waited.append,
        jitter=lambda: 0.5,
    )


def open_catalog(
    file_io: FileIO,
    *,
    warehouse: str = WAREHOUSE,
    options: Mapping[str, str] | None = None,
    seed: int = 0,
    effects: Effects | None = None,
) -> FilesystemCatalog:
    """A catalog over any store, its effects ruled by the test."""
    given = {"lakebed.time-zone": "UTC", "lakebed.read.threads": "1", **(options or {})}
    session = Session.of(given, effects or fixed_effects(seed))
    return FilesystemCatalog(warehouse=warehouse, file_io=file_io, session=session)


def reopen(
    table: Table, file_io: FileIO, *, seed: int = 1, clock: Callable[[], int] | None = None
) -> Table:
    """The same table through another store and with effects of its own, as another process has."""
    effects = fixed_effects(seed)
    if clock is not None:
        effects = Effects(
            clock=clock,
            fresh_uuid=effects.fresh_uuid,
            sleep_ms=effects.sleep_ms,
            jitter=effects.jitter,
        )
    return Table(
        name=table.name,
        location=table.location,
        schema=table.schema,
        file_io=file_io,
        session=Session.of(table.session.options, effects),
    )
