"""Do processes that put one path at one moment agree on one winner?

In each round all processes wait for each other, then for one instant on the clock that they share,
and then put the same new path; `judge` compares what they were told with what the files hold.
"""

import multiprocessing
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Protocol

from lakebed.storage.file_io import FileIO, PutResult
from lakebed.storage.local import LocalFileIO

_TIMEOUT_SECONDS = 60
_HALF_READ = "half"
_LEAD_NS = 60_000
_JITTER_NS = 30_000
_ROUNDS_A_DIRECTORY = 100


@dataclass(frozen=True)
class RaceResult:
    """What came of a race.

    Attributes:
        rounds: How many paths were raced for.
        violations: One sentence for each broken promise; empty when all is well.
        winners: How many rounds each process won.
    """

    rounds: int
    violations: tuple[str, ...]
    winners: tuple[int, ...]


class _Outcomes(Protocol):
    def send(self, obj: list[str], /) -> None: ...
    def close(self) -> None: ...


def race_rounds(
    directory: Path | str,
    *,
    rounds: int,
    processes: int,
    seed: int,
    store: Callable[[], FileIO] = LocalFileIO,
) -> RaceResult:
    """Races `processes` processes for `rounds` new paths below `directory`.

    Args:
        directory: Where the files go, in the spelling of the store; the files of an earlier race
            must not be there.
        rounds: How many paths.
        processes: How many racers.
        seed: Decides what they write, and who starts some microseconds late.
        store: Makes the store in each process; picklable.
    """
    context = multiprocessing.get_context("spawn")
    start = context.Value("q", 0)
    barrier = context.Barrier(processes)
    pipes = [context.Pipe(duplex=False) for _ in range(processes)]
    racers = [
        context.Process(
            target=_race,
            args=(_Racer(process, str(directory), rounds, seed), store),
            kwargs={"gate": _Gate(barrier, start), "results": sender},
            daemon=True,
        )
        for process, (_, sender) in enumerate(pipes)
    ]
    for racer in racers:
        racer.start()
    for _, sender in pipes:
        sender.close()
    outcomes: list[list[str]] = []
    for process, (receiver, _) in enumerate(pipes):
        try:
            outcomes.append(receiver.recv())
        except EOFError:
            raise RuntimeError(f"racer {process} died; its output tells why") from None
    for racer in racers:
        racer.join(_TIMEOUT_SECONDS)
    file_io = store()
    contents = [file_io.read(_path(str(directory), number)) for number in range(rounds)]
    return judge(outcomes, contents, seed=seed)


def judge(outcomes: Sequence[Sequence[str]], contents: Sequence[bytes], *, seed: int) -> RaceResult:
    """Compares what each process was told, per round, with what the files hold."""
    violations = []
    winners = [0] * len(outcomes)
    for number, content in enumerate(contents):
        told = [outcomes[process][number] for process in range(len(outcomes))]
        won = [process for process, answer in enumerate(told) if answer == PutResult.WRITTEN.value]
        for process in won:
            winners[process] += 1
        if len(won) != 1:
            violations.append(f"round {number}: {len(won)} winners, the answers were {told}")
        elif content != payload(won[0], number, seed=seed):
            violations.append(f"round {number}: the file is not what winner {won[0]} wrote")
        if _HALF_READ in told:
            violations.append(f"round {number}: a loser read a file that nobody wrote")
    return RaceResult(rounds=len(contents), violations=tuple(violations), winners=tuple(winners))


def payload(process: int, number: int, *, seed: int) -> bytes:
    """What a process writes in a round: its name, and up to 8 KB that are its own."""
    chance = random.Random(f"{seed}/{process}/{number}")
    return f"process {process} round {number}\n".encode() + chance.randbytes(
        chance.choice((0, 500, 8000))
    )


@dataclass(frozen=True)
class _Racer:
    process: int
    directory: str
    rounds: int
    seed: int


@dataclass(frozen=True)
class _Gate:
    """Lets all racers go at one instant, which a barrier alone wakes them too far apart for."""

    barrier: Barrier
    start_ns: "Synchronized[int]"

    def wait(self, *, late_ns: int) -> None:
        if self.barrier.wait(_TIMEOUT_SECONDS) == 0:
            self.start_ns.value = time.monotonic_ns() + _LEAD_NS
        self.barrier.wait(_TIMEOUT_SECONDS)
        instant = self.start_ns.value + late_ns
        while time.monotonic_ns() < instant:
            pass


def _race(
    racer: _Racer,
    store: Callable[[], FileIO],
    *,
    gate: "_Gate",
    results: _Outcomes,
) -> None:
    file_io = store()
    chance = random.Random(f"{racer.seed}/{racer.process}")
    outcomes = []
    try:
        for number in range(racer.rounds):
            path = _path(racer.directory, number)
            data = payload(racer.process, number, seed=racer.seed)
            jitter = chance.randrange(_JITTER_NS) if chance.random() < 0.5 else 0
            gate.wait(late_ns=jitter)
            outcome = file_io.put_if_absent(path, data).value
            if outcome == PutResult.PRESENT.value and not _is_whole(
                file_io.read(path), racer, number
            ):
                outcome = _HALF_READ
            outcomes.append(outcome)
        results.send(outcomes)
    except BaseException:
        gate.barrier.abort()
        raise
    finally:
        results.close()


def _is_whole(content: bytes, racer: _Racer, number: int) -> bool:
    header = content.split(b"\n", 1)[0].split(b" ")
    return (
        len(header) == 4
        and header[1].isdigit()
        and content == payload(int(header[1]), number, seed=racer.seed)
    )


def _path(directory: str, number: int) -> str:
    """A new directory now and then, so that its making is raced for too."""
    return f"{directory}/{number // _ROUNDS_A_DIRECTORY}/snapshot-{number}"
