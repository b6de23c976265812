"""Which commit and which machine a result comes from."""

import os
import platform
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def read_commit() -> str:
    """The short hash of the commit, with ``-dirty`` when files other than proofs differ from it.

    Returns:
        ``"uncommitted"`` where there is no commit at all.
    """
    commit = _git("rev-parse", "--short=12", "HEAD")
    if not commit:
        return "uncommitted"
    changes = _git("status", "--porcelain", "--", ".", ":!docs/proofs")
    return f"{commit}-dirty" if changes else commit


def seed_of(commit: str) -> int:
    """The seed that a commit stands for, so that each commit tries something else, repeatably."""
    digits = re.match(r"[0-9a-f]+", commit)
    return int(digits.group()[:7], 16) if digits and commit != "uncommitted" else 0


def describe_machine() -> str:
    """Processor model, cores and memory, such as ``"EPYC 7763, 2 cores, 8 GB"``."""
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{_processor_model()}, {os.cpu_count()} cores, {memory_gb:.0f} GB"


def _processor_model() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    found = re.search(r"^model name\s*:\s*(.+)$", text, flags=re.MULTILINE)
    return found.group(1).strip() if found else platform.machine()


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else ""
