"""From which state to which is each file of a history live, and do the changes add up?

The live files of a state are the net of its base and delta lists. Reading all of them for each
state would take as long as the table is old; it is enough to net the first state and to follow the
changes:

    state         1       2       3
    file a      ADD             DELETE       live in 1 and 2
    file b              ADD                  live in 2 and 3

That the base list of a state is the state before is proved by what differs alone: manifests that
only one of the two names must net to nothing. Where it is not so, or where a state cannot be read,
a new *run* begins.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from lakebed.format.manifest import ManifestFileMeta
from lakebed.table.checking.findings import Code, Report
from lakebed.table.checking.manifest_reading import NO_ENTRIES, ManifestReading
from lakebed.table.checking.references import History, Reference

_IDENTITY = ["first", "second"]


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A state whose lists were read.

    Attributes:
        reference: What names it.
        base: The manifests of the state before.
        delta: The manifests of its changes.
    """

    reference: Reference
    base: Sequence[ManifestFileMeta]
    delta: Sequence[ManifestFileMeta]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """States of which each follows from the one before.

    Attributes:
        branch: Whose they are.
        states: The states.
        lifetimes: `claim`, `born` and `died`: of which states, by position, a claim is live; the
            last one is exclusive.
    """

    branch: str
    states: Sequence[State]
    lifetimes: pl.DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReading:
    """Makes runs of histories.

    Attributes:
        manifests: Reads what they name.
        report: Takes what is wrong.
    """

    manifests: ManifestReading
    report: Report

    def runs(self, history: History) -> Iterator[Run]:
        """The runs of a history, ascending."""
        held: list[State] = []
        for state in self._states(history):
            if held and not self._follows(held[-1], state):
                yield self._run(history.branch, held)
                held = []
            held.append(state)
        if held:
            yield self._run(history.branch, held)

    def changelog(self, reference: Reference) -> pl.DataFrame:
        """The entries of the changelog that a reference names; none where it names none."""
        snapshot = reference.snapshot
        name = snapshot.changelog_manifest_list
        if name is None or not reference.has_changelog:
            return NO_ENTRIES
        metas = self.manifests.listed(name, snapshot.changelog_manifest_list_size)
        entries = None if metas is None else self.manifests.entries(metas)
        if entries is None:
            return NO_ENTRIES
        told = snapshot.changelog_record_count
        self._check_count(
            reference, "changelogRecordCount", said=told, true=int(entries["rows"].sum())
        )
        return entries

    def _states(self, history: History) -> Iterator[State]:
        """The states whose metadata can be read."""
        named = [each.snapshot for each in history.states]
        bases = [(each.base_manifest_list, each.base_manifest_list_size) for each in named]
        deltas = [(each.delta_manifest_list, each.delta_manifest_list_size) for each in named]
        self.manifests.read_lists([*bases, *deltas])
        found = [
            State(reference=reference, base=base, delta=delta)
            for reference, base_name, delta_name in zip(history.states, bases, deltas, strict=True)
            if (base := self.manifests.listed(*base_name)) is not None
            and (delta := self.manifests.listed(*delta_name)) is not None
        ]
        self.manifests.read_manifests([m for each in found for m in (*each.base, *each.delta)])
        for state in found:
            if self.manifests.has_read([*state.base, *state.delta]):
                yield state

    def _entries(self, metas: Sequence[ManifestFileMeta]) -> pl.DataFrame:
        """Of a state that can be read."""
        found = self.manifests.entries(metas)
        return NO_ENTRIES if found is None else found

    def _follows(self, before: State, state: State) -> bool:
        """Whether the base of a state is the state before."""
        if state.reference.snapshot.id != before.reference.snapshot.id + 1:
            return False
        then = {each.file_name: each for each in (*before.base, *before.delta)}
        now = {each.file_name: each for each in state.base}
        gone = self._entries([each for name, each in then.items() if name not in now])
        come = self._entries([each for name, each in now.items() if name not in then])
        net = (
            pl.concat([gone.with_columns(-pl.col("sign")), come])
            .group_by(_IDENTITY)
            .agg(pl.col("sign").sum())
            .filter(pl.col("sign") != 0)
        )
        if net.height:
            names = self.manifests.file_names(
                [*state.base, *then.values()], net["first"].to_numpy()
            )
            problem = (
                f"its base list does not give the files of snapshot {before.reference.snapshot.id}:"
                f" {net.height} differ, {_some(names)}"
            )
            self.report.add(Code.BASE_DIFFERS, state.reference.path, problem)
        return not net.height

    def _run(self, branch: str, states: list[State]) -> Run:
        events = pl.concat([self._base_events(states[0]), *self._delta_events(states)])
        events = events.sort([*_IDENTITY, "time"]).with_columns(
            (pl.col("adds") - pl.col("deletes")).cum_sum().over(_IDENTITY).alias("after"),
            pl.col("time").shift(-1).over(_IDENTITY).alias("died"),
        )
        self._check_events(states, events)
        self._check_totals(states, events)
        end = len(states) + 1
        # State i is what there is after time i + 1; at time 0 there is the base of the first one.
        lifetimes = (
            events.filter((pl.col("adds") > 0) & (pl.col("after") > 0))
            .select(
                "claim",
                (pl.max_horizontal("time", 1) - 1).alias("born"),
                (pl.col("died").fill_null(end) - 1).alias("died"),
            )
            .filter(pl.col("born") < pl.col("died"))
        )
        return Run(branch=branch, states=states, lifetimes=lifetimes)

    def _base_events(self, first: State) -> pl.DataFrame:
        """What was live before the first state."""
        net = _netted(self._entries(first.base), time=0)
        after = net["adds"] - net["deletes"]
        self._complain(Code.DOUBLE_ADD, first, net.filter(after > 1))
        self._complain(Code.DELETE_OF_NOTHING, first, net.filter(after < 0))
        live = net.filter(after > 0)
        return live.with_columns(adds=pl.lit(1, pl.Int64), deletes=pl.lit(0, pl.Int64))

    def _delta_events(self, states: Sequence[State]) -> Iterator[pl.DataFrame]:
        for time, state in enumerate(states, 1):
            yield _netted(self._entries(state.delta), time=time)

    def _check_events(self, states: Sequence[State], events: pl.DataFrame) -> None:
        changes = events.filter(pl.col("time") > 0)
        for code, wrong in (
            (Code.DOUBLE_ADD, (pl.col("after") > 1) | (pl.col("adds") > 1)),
            (Code.DELETE_OF_NOTHING, (pl.col("after") < 0) | (pl.col("deletes") > 1)),
        ):
            # What follows from the first one is not told again.
            found = changes.filter(wrong).unique(_IDENTITY, keep="first", maintain_order=True)
            for time in sorted(set(found["time"].to_list())):
                state = states[time - 1]
                self._complain(code, state, found.filter(pl.col("time") == time))

    def _complain(self, code: Code, state: State, found: pl.DataFrame) -> None:
        if not found.height:
            return
        metas = [*state.base, *state.delta]
        names = self.manifests.file_names(metas, found["first"].to_numpy())
        said = "added twice" if code is Code.DOUBLE_ADD else "deleted, and they are not there"
        self.report.add(
            code, state.reference.path, f"{found.height} files are {said}: {_some(names)}"
        )

    def _check_totals(self, states: Sequence[State], events: pl.DataFrame) -> None:
        sums = dict(events.group_by("time").agg(pl.col("rows").sum()).iter_rows())
        total = 0
        for time in range(len(states) + 1):
            change = sums.get(time, 0)
            total += change
            if time:
                reference = states[time - 1].reference
                said = reference.snapshot
                delta, every = said.delta_record_count, said.total_record_count
                self._check_count(reference, "deltaRecordCount", said=delta, true=change)
                self._check_count(reference, "totalRecordCount", said=every, true=total)

    def _check_count(self, reference: Reference, name: str, *, said: int | None, true: int) -> None:
        if said not in {None, true}:
            problem = f"{name} is {said}, and its manifests have {true} rows"
            self.report.add(Code.RECORD_COUNTS, reference.path, problem)


def _netted(entries: pl.DataFrame, *, time: int) -> pl.DataFrame:
    """What became of each file at a time."""
    is_add = pl.col("sign") > 0
    return entries.group_by(_IDENTITY, maintain_order=True).agg(
        is_add.sum().cast(pl.Int64).alias("adds"),
        (~is_add).sum().cast(pl.Int64).alias("deletes"),
        pl.col("claim").filter(is_add).last(),
        pl.col("rows").sum(),
        pl.lit(time, pl.Int64).alias("time"),
    )


def _some(names: Sequence[str]) -> str:
    more = len(names) - 3
    return f"{', '.join(names[:3])}{f' and {more} more' if more > 0 else ''}"
