"""How is a table proved, from its snapshots down to the rows of its files?

1. references       snapshots, tags, branches, changelogs, schemas, hints
2. lists            each manifest list and manifest once, and whether lists tell the truth
3. lifetimes        which files are live in which state, and whether the changes add up
4. layout           levels, bucket counts, row ids of each state
5. files            there, and of the size that was written
6. index files      there, and of live files
7. rows             read once a file: order, place, and what entries say of them (`full` alone)
8. buckets          merged once a branch and tag: one live row a key (`full` alone)

What is wrong is a finding and not an error, and the rest is checked all the same. Snapshots may
expire while a check runs; one that met errors looks again what there is, and begins anew if
something is gone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from lakebed.errors import InvalidArgumentError, LakebedError, NotFoundError
from lakebed.format.json_text import parse_json_object
from lakebed.format.paths import MAIN_BRANCH
from lakebed.table.checking.claimed_files import ClaimedFiles, Numbers
from lakebed.table.checking.findings import Code, Finding, Findings, Report
from lakebed.table.checking.index_files import IndexCheck
from lakebed.table.checking.layout import LayoutCheck
from lakebed.table.checking.lifetimes import RunReading
from lakebed.table.checking.manifest_reading import ManifestReading
from lakebed.table.checking.pieces import OwnedClaims, Pieces, by_owner
from lakebed.table.checking.reading import FileTruth, Piece, ReadingContext, read_piece
from lakebed.table.checking.references import Reference, References, ReferenceSearch
from lakebed.table.checking.stored_files import StoredFiles
from lakebed.table.checking.truth_comparison import TruthComparison
from lakebed.table.metadata.tags import Tags
from lakebed.table.parts import TableParts
from lakebed.table.spreading import Spread, threads

Depth = Literal["quick", "full"]

_DEPTHS: tuple[Depth, ...] = ("quick", "full")
_TRIES = 3
_BY_SNAPSHOT = "sequence.snapshot-ordering"
_NONE: Numbers = np.empty(0, np.int64)


def depth_of(text: str) -> Depth:
    """The depth that a text names.

    Raises:
        InvalidArgumentError: It names none.
    """
    for depth in _DEPTHS:
        if text == depth:
            return depth
    raise InvalidArgumentError(f"depth is {text!r}; it is one of {', '.join(_DEPTHS)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A check of a table.

    Attributes:
        parts: The table.
        depth: `quick` reads metadata and lists directories, `full` reads every row, too.
        snapshot_id: The only snapshot to be checked.
        tag: The only tag to be checked.
    """

    parts: TableParts
    depth: Depth = "full"
    snapshot_id: int | None = None
    tag: str | None = None

    def carry_out(self, rows: Spread | None = None) -> Findings:
        """What is found.

        Args:
            rows: Has files read; by default in threads of this process.

        Raises:
            InvalidArgumentError: No such depth, or both a snapshot and a tag.
            NotFoundError: No such snapshot or tag.
        """
        depth_of(self.depth)
        if self.snapshot_id is not None and self.tag is not None:
            raise InvalidArgumentError("snapshot_id and tag are both given; leave one of them out")
        tries = 0
        while True:
            tries += 1
            attempt = _Attempt(self)
            with threads(self.parts) as spread:
                findings = attempt.findings(spread, rows or spread)
            if findings.is_clean or not attempt.has_lost_references():
                return findings
            if tries == _TRIES:
                problem = (
                    f"snapshots or tags went in each of {tries} tries, so errors may be of them"
                )
                directory = self.parts.paths.snapshot_directory
                attempt.report.add(Code.CHANGED_MEANWHILE, directory, problem)
                return attempt.result()

    def references(self, report: Report) -> References:
        """What is to be checked.

        Raises:
            NotFoundError: No such snapshot or tag.
            CorruptTableError: The one that is asked for cannot be read.
        """
        parts = self.parts
        search = ReferenceSearch(file_io=parts.file_io, paths=parts.paths, report=report)
        if self.snapshot_id is not None:
            path = parts.paths.snapshot(self.snapshot_id)
            snapshot = parts.snapshots.load(self.snapshot_id)
            is_main = parts.paths.branch == MAIN_BRANCH
            return search.one(Reference(path=path, snapshot=snapshot, has_changelog=is_main))
        if self.tag is not None:
            snapshot = Tags(parts.file_io, parts.paths).load(self.tag).snapshot
            path = parts.paths.tag(self.tag)
            return search.one(Reference(path=path, snapshot=snapshot, has_changelog=False))
        return search.all()


class _Attempt:
    """One try to check a table."""

    def __init__(self, check: Check) -> None:
        self.report = Report()
        self._check = check
        self._parts = check.parts
        self._references = check.references(self.report)
        self._files = 0
        self._rows = 0

    def findings(self, spread: Spread, rows: Spread) -> Findings:
        """Looks at everything.

        Args:
            spread: For metadata.
            rows: For data.
        """
        parts, report = self._parts, self.report
        stored = StoredFiles(parts.file_io, report, spread)
        manifests = ManifestReading(parts, stored, report)
        reading = RunReading(manifests=manifests, report=report)
        runs = [run for each in self._references.histories for run in reading.runs(each)]
        changelogs = list(self._changelogs(reading))
        self._check_named(manifests)
        files = ClaimedFiles.of(parts, manifests.claims())
        layout = LayoutCheck(files=files, schema=parts.schema, report=report)
        for run in runs:
            layout.check(run)
        indexes = IndexCheck(
            parts=parts, files=files, stored=stored, manifests=manifests, report=report
        )
        vectors = [indexes.check(run) for run in runs]
        owned = by_owner(runs, changelogs)
        named = np.concatenate([_NONE, *(each.claims for each in owned)])
        whole = files.check_stored(named, stored=stored, report=report)
        self._files = len(files.one_a_file(named)) + indexes.file_count
        if self._check.depth == "full":
            pieces = Pieces(parts=parts, files=files, indexes=indexes, report=report)
            chosen = files.one_a_file(whole)
            self._check_rows(pieces, [each.among(chosen) for each in owned], rows)
            of_vectors = [piece for each in vectors for piece in pieces.of_vectors(each)]
            of_buckets = [piece for run in runs for piece in pieces.of_newest(run, whole)]
            self._take([*of_vectors, *of_buckets], rows)
        return self.result()

    def result(self) -> Findings:
        """What was found so far."""
        return Findings(
            table=self._parts.paths.location,
            found=self.report.findings(),
            snapshots=len(self._references.named),
            files=self._files,
            rows=self._rows,
        )

    def has_lost_references(self) -> bool:
        """Whether something that was checked is not there any more, or is something else."""
        try:
            now = self._check.references(Report()).named
        except NotFoundError:
            return True
        return not self._references.named.items() <= now.items()

    def _changelogs(self, reading: RunReading) -> Iterator[OwnedClaims]:
        for history in self._references.histories:
            for each in (*history.states, *history.changelogs):
                claims = reading.changelog(each)["claim"].to_numpy()
                yield OwnedClaims(branch=history.branch, claims=claims, is_changelog=True)

    def _check_named(self, manifests: ManifestReading) -> None:
        """The schemas and statistics that snapshots name."""
        paths = self._parts.paths
        for history in self._references.histories:
            known = self._references.schemas[history.branch]
            for each in history.states:
                if each.snapshot.schema_id not in known:
                    problem = f"schema {each.snapshot.schema_id} of {each.path} cannot be read"
                    where = paths.of_branch(history.branch).schema(each.snapshot.schema_id)
                    self.report.add(Code.UNKNOWN_SCHEMA, where, problem)
                if each.snapshot.statistics is not None:
                    self._check_statistics(paths.statistics(each.snapshot.statistics), manifests)

    def _check_statistics(self, path: str, manifests: ManifestReading) -> None:
        if manifests.is_whole(path, None):
            try:
                parse_json_object(self._parts.file_io.read(path), path)
            except LakebedError as error:
                self.report.add_error(error, path)

    def _check_rows(self, pieces: Pieces, owned: Sequence[OwnedClaims], rows: Spread) -> None:
        """Reads each file once, and compares what is claimed of it.

        Args:
            pieces: Makes what is read.
            owned: One claim a file.
            rows: For data.
        """
        files = pieces.files
        truths = self._take([piece for each in owned for piece in pieces.of_files(each)], rows)
        self._rows = sum(int(str(each.columns["row_count"])) for each in truths.values())
        for each in owned:
            claims = files.of_paths(each.claims)
            schema_ids = files.numbers("schema_id")[claims]
            for schema_id in np.unique(schema_ids).tolist():
                members = claims[schema_ids == schema_id]
                schema = self._references.schemas[each.branch].get(schema_id)
                known = [claim for claim in members.tolist() if files.path(claim) in truths]
                if schema is not None and known:
                    TruthComparison(
                        files=files,
                        schema=schema,
                        numbers_are_snapshots=self._parts.texts.get(_BY_SNAPSHOT) == "true",
                        report=self.report,
                    ).compare(np.array(known), [truths[files.path(claim)] for claim in known])

    def _take(self, pieces: Sequence[Piece], rows: Spread) -> dict[str, FileTruth]:
        """Reads pieces: reports what is wrong, and gives what is so of each file."""
        context = ReadingContext(
            file_io=self._parts.file_io,
            schemas=self._references.schemas,
            table_schema=self._parts.schema,
            options=self._parts.texts,
            bucket_function=self._parts.options.bucket_function_type.value,
            merge_memory=self._parts.session.merge_memory,
            time_zone=self._parts.session.time_zone,
        )
        # The largest go first, so that they do not run alone at the end.
        ordered = sorted(pieces, key=lambda each: each.size_bytes, reverse=True)
        results = rows(partial(read_piece, context=context), ordered)
        found = [each for some in results for each in some]
        self.report.take([each for each in found if isinstance(each, Finding)])
        return {each.path: each for each in found if isinstance(each, FileTruth)}
