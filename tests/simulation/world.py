"""One run's table, store and journal, and how processes come to them."""

import random
import uuid
from dataclasses import dataclass, field, replace

import pyarrow as pa

from lakebed.format.schema_definition import schema
from lakebed.format.snapshot import Snapshot
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.metadata.snapshots import Snapshots
from lakebed.table.metadata.tags import Tags
from lakebed.table.session import Effects, Session
from lakebed.table.table import Table
from simulation.contents import ContentsReader
from simulation.faults import Process, Rates, SimFileIO
from simulation.journal import Journal
from simulation.models import ACCOUNTS, DEPOSIT, Kind, Row, transferring
from simulation.records import Intent
from simulation.scheduler import Scheduler
from support.effects import open_catalog

_SESSION = {"lakebed.time-zone": "UTC", "lakebed.read.threads": "1"}


@dataclass(slots=True, kw_only=True)
class World:
    """Where the actors of a run meet.

    Attributes:
        seed: Of the run.
        kind: What kind of table it is.
        scheduler: Gives turns.
        store: Keeps the files; nothing fails there.
        table: The table in it.
        journal: Knows what must hold.
        rates: How often what fails.
        next_id: The id of the next row that is new.
    """

    seed: int
    kind: Kind
    scheduler: Scheduler
    store: MemoryFileIO
    table: Table
    journal: Journal
    rates: Rates
    next_id: int = 0
    _births: int = field(default=0)

    @classmethod
    def of(cls, seed: int, kind: Kind, *, options: dict[str, str], rates: Rates) -> "World":
        """A table without rows.

        Args:
            seed: Of the run.
            kind: What kind of table.
            options: Its options, beside those of the kind.
            rates: How often what fails.
        """
        chance = random.Random(f"{seed}/turns")
        scheduler = Scheduler(chance, stays=chance.choice([0.0, 0.5, 0.9]))
        store = MemoryFileIO(clock=lambda: scheduler.now_ms)
        catalog = open_catalog(store, seed=seed)
        catalog.create_database("db")
        table = catalog.create_table(
            "db.t",
            schema=schema(list(kind.columns)),
            primary_key=list(kind.key),
            partition_by=list(kind.partition),
            options={**kind.options, **options},
        )
        reader = ContentsReader(store=store, parts=table.parts(), kind=kind)
        journal = Journal(reader, scheduler)
        return cls(
            seed=seed,
            kind=kind,
            scheduler=scheduler,
            store=store,
            table=table,
            journal=journal,
            rates=rates,
        )

    def process(self, actor: str, rates: Rates | None = None) -> Process:
        """A process for an actor, whose fate the seed decides."""
        self._births += 1
        chance = random.Random(f"{self.seed}/{actor}/{self._births}")
        given = self.rates if rates is None else rates
        return Process(actor=actor, scheduler=self.scheduler, chance=chance, rates=given)

    def open(self, process: Process) -> Table:
        """The table as a process sees it."""

        def wait(milliseconds: float) -> None:
            process.take_turn(sleeps_ms=round(milliseconds))

        effects = Effects(
            clock=lambda: self.scheduler.now_ms,
            fresh_uuid=lambda: str(uuid.UUID(int=process.chance.getrandbits(128), version=4)),
            sleep_ms=wait,
            jitter=process.chance.random,
        )
        return replace(
            self.table,
            file_io=SimFileIO(self.store, process, self.journal),
            session=Session.of(_SESSION, effects),
        )

    def fresh_ids(self, count: int) -> list[int]:
        """Ids that no row has yet."""
        self.next_id += count
        return list(range(self.next_id - count, self.next_id))

    def rows(self, rows: list[Row]) -> pa.Table:
        """Rows as Lakebed takes them."""
        columns = zip(*rows, strict=True)
        arrays = [pa.array(column, pa.int32()) for column in columns]
        return pa.table(arrays, names=self.kind.names)

    def tag_path(self, tag: str) -> str:
        """Where a tag is."""
        return self.table.parts().paths.tag(tag)

    def tagged(self, tag: str) -> Snapshot | None:
        """What a tag names; None where it is not there."""
        found = Tags(self.store, self.table.parts().paths).find(tag)
        return None if found is None else found.snapshot

    def snapshots_of_branch(self, branch: str) -> list[tuple[str, Snapshot]]:
        """The snapshots of a branch with their paths."""
        paths = self.table.parts().paths.of_branch(branch)
        found = Snapshots(self.store, paths)
        return [(paths.snapshot(each), found.load(each)) for each in found.list_ids()]

    def begin(self) -> None:
        """The first rows, where the kind of table has any."""
        if self.kind.name != "bank":
            return
        deposits: list[Row] = [(account, DEPOSIT) for account in range(ACCOUNTS)]
        process = self.process("bank", Rates())
        self.journal.begin(process, Intent(what="deposits", change=transferring(deposits)))
        snapshot = self.open(process).upsert(self.rows(deposits))
        self.journal.end(process, "acknowledged", snapshot)
