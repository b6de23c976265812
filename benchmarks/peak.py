"""How much memory has this process taken at most?

From the process's own status: `getrusage` also counts what its parent took before it was started.
"""

from pathlib import Path

_STATUS = Path("/proc/self/status")
_FIELD = "VmHWM:"
KIB = 1 << 10


def peak_mb() -> float:
    """Its largest resident memory so far, in MB."""
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(_FIELD))
    return int(line.split()[1]) / KIB
