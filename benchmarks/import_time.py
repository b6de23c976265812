"""How long does `import lakebed` take, in a fresh interpreter?"""

import subprocess
import sys
import time

from benchmarks.harness import Contender, Effort, Outcome, Target, alternate


def run(effort: Effort) -> list[Outcome]:
    """The import beside a bare start of the interpreter."""
    figures = alternate(
        [
            Contender(name="import lakebed", measure=lambda: _seconds("import lakebed")),
            Contender(name="bare python", measure=lambda: _seconds("pass")),
        ],
        effort=effort,
    )
    targets = (Target(of=None, at_most=0.3),)
    return [Outcome(name="import, process start included", figures=figures, targets=targets)]


def _seconds(program: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True)
    return time.perf_counter() - started
