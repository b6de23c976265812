"""From the Arrow columns of live entries to the files and groups that splits are made of."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.arrow_compute import compute as pc
from lakebed.format.arrow_typing import ArrowArray, encode_dictionary, python_values
from lakebed.format.paths import TablePaths, format_partition
from lakebed.format.schema import TableSchema
from lakebed.format.statistics import ColumnBounds, StatsColumns, bounds_from_stats
from lakebed.format.types import with_nullability
from lakebed.table.partitions import partition_table
from lakebed.table.split import SplitFile


@dataclass(frozen=True, slots=True)
class BucketGroup:
    """The entries of one bucket.

    Attributes:
        partition: Values of the partition columns.
        bucket: The bucket.
        rows: Positions of its entries.
    """

    partition: tuple[object, ...]
    bucket: int
    rows: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitFiles:
    """Resolves entries of one table.

    Attributes:
        table_schema: The current schema.
        paths: Names on disk.
        default_name: `partition.default-name`.
        legacy_name: `partition.legacy-name`.
    """

    table_schema: TableSchema
    paths: TablePaths
    default_name: str
    legacy_name: bool

    def files(self, entries: pa.Table) -> list[SplitFile]:
        """One file an entry."""
        directories = self._directories(entries)
        columns = zip(
            directories,
            *(
                python_values(entries.column(name))
                for name in (
                    "external_path",
                    "file_name",
                    "file_size",
                    "row_count",
                    "schema_id",
                    "level",
                    "min_sequence_number",
                    "max_sequence_number",
                    "delete_row_count",
                )
            ),
            strict=True,
        )
        return [
            SplitFile(
                path=external if external is not None else f"{directory}/{name}",
                size_bytes=size,
                row_count=rows,
                schema_id=schema,
                ordinal=ordinal,
                level=level,
                min_sequence_number=low,
                max_sequence_number=high,
                delete_row_count=deletes,
            )
            for ordinal, (
                directory,
                external,
                name,
                size,
                rows,
                schema,
                level,
                low,
                high,
                deletes,
            ) in enumerate(columns)
        ]

    def groups(self, entries: pa.Table) -> list[BucketGroup]:
        """The entries by bucket, each bucket's in the order given."""
        if entries.num_rows == 0:
            return []
        encoded = encode_dictionary(entries.column("partition").combine_chunks())
        codes = encoded.indices.to_numpy()
        buckets = entries.column("bucket").to_numpy()
        order = np.lexsort((buckets, codes))
        changes = (np.diff(codes[order]) != 0) | (np.diff(buckets[order]) != 0)
        values = self._partition_values(encoded.dictionary)
        return [
            BucketGroup(values[codes[rows[0]]], int(buckets[rows[0]]), rows.tolist())
            for rows in np.split(order, np.flatnonzero(changes) + 1)
        ]

    def value_bounds(
        self,
        entries: pa.Table,
        file_schemas: Mapping[int, TableSchema],
        *,
        wanted: Collection[str],
    ) -> dict[str, ColumnBounds]:
        """Bounds of the wanted columns, unknown where a file's schema is not the current one."""
        schema_ids = pc.unique(entries.column("schema_id")).to_pylist()
        alike = [i for i in schema_ids if self._reads_alike(file_schemas[i])]
        known = pc.is_in(entries.column("schema_id"), value_set=pa.array(alike, pa.int64()))
        positions = np.flatnonzero(known.to_numpy())
        chosen = entries if len(positions) == entries.num_rows else entries.take(positions)
        stats = StatsColumns(
            chosen.column("value_min"),
            chosen.column("value_max"),
            chosen.column("value_null_counts"),
            chosen.column("value_stats_cols"),
        )
        bounds = bounds_from_stats(stats, self.table_schema.fields, wanted=wanted)
        if chosen is entries:
            return bounds
        return {name: _spread(b, positions, entries.num_rows) for name, b in bounds.items()}

    def _reads_alike(self, file_schema: TableSchema) -> bool:
        return len(file_schema.fields) == len(self.table_schema.fields) and all(
            then.id == now.id
            and then.name == now.name
            and with_nullability(then.type, nullable=True)
            == with_nullability(now.type, nullable=True)
            for then, now in zip(file_schema.fields, self.table_schema.fields, strict=True)
        )

    def _directories(self, entries: pa.Table) -> list[str]:
        encoded = encode_dictionary(entries.column("partition").combine_chunks())
        values = self._partition_values(encoded.dictionary)
        partition_paths = [self.partition_path(value) for value in values]
        buckets = python_values(entries.column("bucket"))
        pairs = zip(python_values(encoded.indices), buckets, strict=True)
        return [self.paths.bucket(partition_paths[code], bucket) for code, bucket in pairs]

    def bucket_directory(self, partition: bytes, bucket: int) -> str:
        """The directory of a bucket of a serialized partition row."""
        values = self._partition_values(pa.array([partition], pa.binary()))[0]
        return self.paths.bucket(self.partition_path(values), bucket)

    def partition_path(self, values: tuple[object, ...]) -> str:
        """The directory of a partition below the table."""
        return format_partition(
            values,
            self.table_schema.partition_type.fields,
            default_name=self.default_name,
            legacy=self.legacy_name,
        )

    def _partition_values(self, partitions: ArrowArray) -> list[tuple[object, ...]]:
        fields = self.table_schema.partition_type.fields
        if not fields:
            return [()] * len(partitions)
        columns = partition_table(partitions, fields)
        return list(zip(*(columns.column(i).to_pylist() for i in range(len(fields))), strict=True))


def _spread(bounds: ColumnBounds, positions: npt.NDArray[np.intp], count: int) -> ColumnBounds:
    """Bounds of some entries as bounds of all, unknown for the others."""
    source = np.full(count, -1)
    source[positions] = np.arange(len(positions))
    taken = pa.array(source, mask=source < 0)
    known = np.zeros(count, np.bool_)
    known[positions] = bounds.known
    return ColumnBounds(
        min=bounds.min.take(taken),
        max=bounds.max.take(taken),
        null_count=bounds.null_count.take(taken),
        known=known,
    )
