"""What is a form of statement to the parser?"""

from collections.abc import Callable

from lakebed.spark.sql.cursor import Cursor
from lakebed.spark.sql.statements import Name, Statement

Parse = Callable[[Cursor], Statement]
"""Reads what stands behind the first words."""

Forms = tuple[tuple[tuple[str, ...], Parse], ...]
"""First words, and what reads on behind them; the first whose words are there is taken."""

Actions = tuple[tuple[tuple[str, ...], Callable[[Cursor, Name], Statement]], ...]
"""The words behind ALTER TABLE and its name, and what reads on behind them."""
