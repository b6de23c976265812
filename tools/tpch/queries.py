"""The texts of TPC-H's 22 queries, with the parameters that the specification validates by."""

from pathlib import Path

DIRECTORY = Path(__file__).resolve().parents[2] / "tests" / "tpch" / "queries"

QUERIES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(DIRECTORY.glob("q*.sql"))}
"""By name, `q01` to `q22`; tables are named bare, so that the current database says whose."""
