"""The process in which files are damaged and read: what kills it is seen by the one that waits.

It is told seeds, a line each, and answers in lines of JSON: a trial before it is made, what came of
all trials after the last.
"""

import json
import resource
import sys
from collections import Counter
from pathlib import Path
from typing import TextIO

from fuzz.trials import judge, trials_of

# What reading a small table may take beyond what the libraries took to load. An allocation as big
# as a damaged length asks for fails then, as it would on a machine that is not idle.
_MEMORY_BYTES = 3 << 30


def serve(seeds: TextIO, answers: TextIO) -> None:
    """Answers until there are no more seeds."""
    limit_memory()
    for line in seeds:
        counts: Counter[str] = Counter()
        violations: list[str] = []
        for trial in trials_of(int(line)):
            say(answers, {"trial": str(trial)})
            verdict = judge(trial)
            counts += verdict.counts
            violations += verdict.violations
        say(answers, {"counts": dict(counts), "violations": violations})


def limit_memory() -> None:
    """Lets the process take little more than it has."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + _MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def say(answers: TextIO, message: object) -> None:
    """Sends a line."""
    answers.write(json.dumps(message) + "\n")
    answers.flush()


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
