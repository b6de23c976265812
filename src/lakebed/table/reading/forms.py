"""The forms in which rows come, once they are an Arrow table."""

from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa

if TYPE_CHECKING:
    import duckdb
    import pandas as pd


class RowForms(ABC):
    """Something whose rows are an Arrow table, in every other form."""

    __slots__ = ()

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """All rows as an Arrow table."""

    def to_polars(self) -> pl.DataFrame:
        """All rows as a polars frame."""
        frame = pl.from_arrow(self.to_arrow())
        if not isinstance(frame, pl.DataFrame):
            raise TypeError(type(frame))
        return frame

    def to_pandas(self) -> "pd.DataFrame":
        """All rows as a pandas frame; needs pandas installed."""
        return self.to_arrow().to_pandas()

    def to_duckdb(
        self, view: str, connection: "duckdb.DuckDBPyConnection | None" = None
    ) -> "duckdb.DuckDBPyConnection":
        """The rows as a view of a DuckDB connection; needs duckdb installed.

        Args:
            view: Name of the view.
            connection: Where to register it; a new one in memory where not given.
        """
        if connection is None:
            connection = import_module("duckdb").connect()
        return connection.register(view, self.to_arrow())
