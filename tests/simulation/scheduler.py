"""Who runs next? Actors are threads of which exactly one runs: it has the baton.

It hands the baton over at every call of the store and when it sleeps; a seed draws who gets it, and
time goes on a little at each turn. So a run is a function of its seed, however many threads there
are. An actor that sleeps, or that stands still as in a long garbage collection, gets no turn before
its time; when all of them wait, time jumps to the first who wakes.
"""

import hashlib
import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from support.effects import EPOCH_MS

_TURNS_MAX = 30_000
_STEP_MS = 20


class Over(BaseException):
    """The run has ended; raised in each actor at its next turn."""


@dataclass(slots=True, eq=False)
class _Thread:
    """One actor's thread.

    Attributes:
        name: Of the actor.
        wakes_ms: From when on it may run.
        is_done: Whether it has ended.
        baton: Locked unless it is to run.
    """

    name: str
    wakes_ms: int = 0
    is_done: bool = False
    baton: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.baton.acquire()


class Scheduler:
    """Gives turns.

    Attributes:
        now_ms: The time of the simulation, in epoch milliseconds.
        turns: How many turns there were.
        trace: A line for each thing that was done.
        violation: What was found to be wrong, by which the run ended; None while all is well.
    """

    def __init__(self, chance: random.Random, *, stays: float) -> None:
        """A run that has not begun.

        Args:
            chance: Draws who is next.
            stays: How probable it is that an actor goes on when it could hand over.
        """
        self.now_ms = EPOCH_MS
        self.turns = 0
        self.trace: list[str] = []
        self.violation: str | None = None
        self._chance = chance
        self._stays = stays
        self._threads: dict[str, _Thread] = {}
        self._ended = threading.Event()

    def run(self, bodies: dict[str, Callable[[], None]]) -> None:
        """Runs actors by name until all have ended, or a violation was found."""
        self._threads = {name: _Thread(name) for name in bodies}
        self._ended.clear()
        running = [
            threading.Thread(target=self._live, args=(self._threads[name], body), daemon=True)
            for name, body in bodies.items()
        ]
        for thread in running:
            thread.start()
        self._pass_on()
        self._ended.wait()
        for thread in running:
            thread.join()

    def take_turn(self, name: str, *, sleeps_ms: int = 0) -> None:
        """Lets others go first, perhaps; called in the thread of an actor.

        Args:
            name: The actor.
            sleeps_ms: For how long it gets no turn.

        Raises:
            Over: The run has ended.
        """
        self._end_if_over()
        self.turns += 1
        if self.turns > _TURNS_MAX:
            self.stop(f"no end after {_TURNS_MAX} turns")
            raise Over
        self.now_ms += self._chance.randint(1, _STEP_MS)
        mine = self._threads[name]
        mine.wakes_ms = self.now_ms + sleeps_ms
        others = self._drawn(mine)
        if others is not mine:
            others.baton.release()
            mine.baton.acquire()
        self._end_if_over()

    def tell(self, line: str) -> None:
        """Adds to the trace."""
        self.trace.append(f"{self.turns:5} {line}")

    def stop(self, violation: str) -> None:
        """Ends the run, which has gone wrong; the first word counts."""
        if self.violation is None:
            self.violation = violation
            self.tell(f"VIOLATION: {violation}")

    def digest(self) -> str:
        """Of the whole trace."""
        return hashlib.sha256("\n".join(self.trace).encode()).hexdigest()

    def _end_if_over(self) -> None:
        if self.violation is not None:
            raise Over

    def _drawn(self, current: _Thread | None) -> _Thread:
        waiting = [each for each in self._threads.values() if not each.is_done]
        ready = [each for each in waiting if each.wakes_ms <= self.now_ms]
        if not ready:
            first = min(waiting, key=lambda each: each.wakes_ms)
            self.now_ms = first.wakes_ms
            return first
        if current in ready and self._chance.random() < self._stays:
            return current
        return self._chance.choice(ready)

    def _pass_on(self) -> None:
        if all(each.is_done for each in self._threads.values()):
            self._ended.set()
            return
        self._drawn(None).baton.release()

    def _live(self, mine: _Thread, body: Callable[[], None]) -> None:
        mine.baton.acquire()
        try:
            if self.violation is None:
                body()
        except Over:
            pass
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is a finding
            self.stop(f"{mine.name} failed with {error!r}{_raised_at(error)}")
        mine.is_done = True
        self._pass_on()


def _raised_at(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f" in {trace.tb_frame.f_code.co_name}:{trace.tb_lineno}"
