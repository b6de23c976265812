"""Deletion vectors that the real Paimon wrote, of `tests/format/file_index_vectors.jsonl`."""

import json
from pathlib import Path
from typing import Any

_LINES = Path(__file__).parents[1] / "format" / "file_index_vectors.jsonl"
_PREFIX = "deletion vector "

VECTORS = [
    vector
    for line in _LINES.read_text("utf-8").splitlines()
    if (vector := json.loads(line)).get("case", "").startswith(_PREFIX)
]
"""Each with its `case`, `length`, `values` and `hex`."""


def case_of(vector: dict[str, Any]) -> str:
    """What is particular about it."""
    case: str = vector["case"]
    return case.removeprefix(_PREFIX)
