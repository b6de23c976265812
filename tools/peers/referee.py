"""The real Paimon, 1.4.2, through its Java API: it creates, writes, compacts, alters and reads.

One process serves many tables, so the start of a JVM is paid once. Schemas, types and schema
changes are the JSON of Paimon's REST catalog; values are as `tools/referee/Values.java` says, which
is the encoding of the golden answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.peers.java import REFEREE
from tools.peers.process import JsonProcess

Json = Any
Comparison = tuple[str, str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Rows that were read.

    Attributes:
        columns: Names and types, the types as in a schema file.
        kinds: A row kind a row: ``+I``, ``-U``, ``+U`` or ``-D``.
        rows: Values in the order of the columns; a MAP is a list of pairs in no order.
    """

    columns: list[tuple[str, Json]]
    kinds: list[str]
    rows: list[list[Json]]


class Referee:
    """Tables are named by their directory, ``WAREHOUSE/DATABASE.db/TABLE``.

    What Paimon refuses is a `tools.peers.process.PeerError` with its stack trace.
    """

    def __init__(self) -> None:
        """Starts the JVM, after fetching and compiling what it needs."""
        self._process = JsonProcess("the referee", REFEREE.command(), environment={})

    def close(self) -> None:
        """Ends the JVM."""
        self._process.close()

    def create(self, table: Path, schema: Mapping[str, Json]) -> None:
        """Creates a table, and its database if need be.

        Args:
            table: Its directory.
            schema: ``fields`` (each with ``id``, ``name``, ``type``), ``primaryKeys``,
                ``partitionKeys``, ``options``, ``comment``.
        """
        self._process.ask("create", table=str(table), schema=schema)

    def alter(self, table: Path, changes: Sequence[Mapping[str, Json]]) -> None:
        """Alters the schema, all changes in one step."""
        self._process.ask("alter", table=str(table), changes=changes)

    def write(
        self,
        table: Path,
        rows: Sequence[Sequence[Json]],
        *,
        overwrite: bool = False,
        assign: bool = False,
    ) -> None:
        """Writes rows in one commit.

        Args:
            table: Its directory. Of a table with dynamic buckets, two are filled.
            rows: Each with its row kind first, then a value for each column of the newest schema.
            overwrite: Whether what the partitions of these rows held goes.
            assign: Whether Paimon's own assigner picks dynamic buckets, instead of two filled.
        """
        self._process.ask("write", table=str(table), rows=rows, overwrite=overwrite, assign=assign)

    def compact(self, table: Path, *, full: bool) -> None:
        """Compacts every bucket that has files: all of it, or what Paimon picks."""
        self._process.ask("compact", table=str(table), full=full)

    def clustering(self, table: Path, *, full: bool) -> list[tuple[int, list[str]]]:
        """What Paimon would cluster of a table without buckets.

        Returns:
            For each partition that is clustered, the level and the names of the files.
        """
        units: Json = self._process.ask("clustering-plan", table=str(table), full=full)
        return [(unit["level"], unit["files"]) for unit in units]

    def stream(
        self, table: Path, *, start: int | None = None, options: Mapping[str, str] | None = None
    ) -> list[list[Json]]:
        """What a stream reads up to the newest snapshot.

        Args:
            table: Its directory.
            start: The snapshot with which it goes on, there or not; by default it begins.
            options: Where it begins, and the like.

        Returns:
            The rows, each with its row kind first.
        """
        arguments: dict[str, Json] = {"from": start, "options": dict(options or {})}
        rows: Json = self._process.ask("stream", table=str(table), **arguments)
        return list(rows)

    def change_history(self, table: Path, action: str, **arguments: str | int) -> None:
        """Makes a tag or a branch, rolls back, and the like.

        Args:
            table: Its directory.
            action: ``tag``, ``branch``, ``delete-branch``, ``fast-forward``,
                ``rollback-to-snapshot`` or ``rollback-to-tag``.
            arguments: ``name``; of a branch also the ``tag`` that it is made of; ``snapshot``.
        """
        self._process.ask("history", table=str(table), action=action, **arguments)

    def orphans(self, table: Path, *, dry_run: bool = False) -> set[str]:
        """Removes what Paimon takes for orphan files, however young; tells their paths."""
        return set(self._process.ask("orphans", table=str(table), dryRun=dry_run))

    def metadata(self, table: Path) -> dict[str, Json]:
        """What the manifests of every snapshot say.

        Returns:
            By snapshot id: ``base``, ``delta`` and, if there are any, ``changelog``, each a list of
            manifests with their ``entries``; and ``index``, a list of entries of index files. All
            of them are objects of the fields of the format, with values encoded.
        """
        return self._process.ask("metadata", table=str(table))

    def tags(self, table: Path, action: str = "list", **arguments: Json) -> list[list[Json]]:
        """Makes, changes or deletes tags.

        Args:
            table: Its directory.
            action: ``create``, ``replace``, ``rename``, ``delete``, ``automatic`` or ``list``.
            **arguments: ``tag``, ``target``, ``snapshot``, ``seconds``, as the action takes them.

        Returns:
            Every tag after it: name, snapshot id, local time of its making, seconds that it is
            kept; the last two may be None.
        """
        tags: Json = self._process.ask("tags", table=str(table), action=action, **arguments)
        return sorted(tags)

    def read(
        self,
        table: Path,
        *,
        columns: Sequence[str] | None = None,
        where: Sequence[Comparison] = (),
        options: Mapping[str, str] | None = None,
    ) -> Answer:
        """Reads rows.

        Args:
            table: Its directory; the name may end in ``$`` and a system table.
            columns: Their names, or all.
            where: Comparisons that must all hold: column, operator, literal.
            options: Options of the scan.
        """
        answer = self._process.ask(
            "read", table=str(table), columns=columns, filter=where or None, options=options
        )
        return Answer(
            columns=[(name, kind) for name, kind in answer["columns"]],
            kinds=[row[0] for row in answer["rows"]],
            rows=[row[1:] for row in answer["rows"]],
        )
