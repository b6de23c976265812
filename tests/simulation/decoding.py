"""Manifests are decoded once a run, whichever process reads them: a run has many, and few files."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any
from unittest.mock import patch

import pyarrow as pa

from lakebed.format import manifest_file
from lakebed.format.avro.codec import RowChoice, read_columns, read_records


@contextmanager
def decoded_once() -> Iterator[None]:
    """While the block runs, the same bytes are decoded once; what they say is never changed."""
    tables: dict[tuple[bytes, frozenset[str] | None], pa.Table] = {}

    def remembered(
        data: bytes,
        path: str,
        *,
        wanted: Collection[str] | None = None,
        choice: RowChoice | None = None,
        convert: Callable[[pa.Table], pa.Table] = lambda rows: rows,
    ) -> pa.Table:
        if choice is not None:
            return read_columns(data, path, wanted=wanted, choice=choice, convert=convert)
        key = data, None if wanted is None else frozenset(wanted)
        if key not in tables:
            tables[key] = read_columns(data, path, wanted=wanted, convert=convert)
        return tables[key]

    records: Callable[[bytes, str], list[dict[str, Any]]] = lru_cache(maxsize=None)(read_records)
    with (
        patch.object(manifest_file, "read_columns", remembered),
        patch.object(manifest_file, "read_records", records),
    ):
        yield
