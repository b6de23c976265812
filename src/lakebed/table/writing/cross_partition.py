"""Rows of a table whose keys may move between partitions (`bucket` = -1, a key without them).

A key is in one partition at a time. Where it is, is known from a scan of the table, made when the
first row comes (`key_locations`), or before, where several tasks share the keys. The simplest
example, key 1 in partition x, and a row (1, y):

    deduplicate                       -D (1, x) where it was, +I (1, y)
    partial-update, aggregation       +I (1, x): the row changes the old one, where that is
    first-row                         nothing: the first row stays

Two complications:

1. *One batch, one key, several rows.* Rows of a key are looked at from old to new, each where the
   one before left the key; all keys of a batch at once, as shifts of sorted columns.
2. *Where to.* A key that enters a partition gets a bucket there as any new key does, and a key that
   leaves makes room (`bucket_room`).

One writer at a time: a commit fails when others committed rows since its writer began.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import CorruptTableError
from lakebed.format.arrow.typing import ArrowArray, encode_dictionary, joined, taken
from lakebed.format.binary_row.codec import encode_rows
from lakebed.format.binary_row.layout import one_array
from lakebed.format.bucket import hash_rows
from lakebed.format.schema import TableSchema
from lakebed.lsm.merge import DELETE, INSERT, Kinds
from lakebed.options.choices import MergeEngine
from lakebed.table.metadata.partitions import partition_table
from lakebed.table.writing.bucket_room import (
    BucketGrowth,
    BucketRoom,
    Buckets,
    Share,
    assigners_of,
)
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.key_locations import NOWHERE, KeyLocations, Numbers
from lakebed.table.writing.routing import NOT_FIXED, PartitionedRows, RoutedRows, by_bucket

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKeys:
    """Keys that a table has.

    Attributes:
        places: Their partitions.
        buckets: Their buckets.
        keys: The columns of the primary key.
    """

    places: PartitionedRows
    buckets: Buckets
    keys: pa.Table


@dataclass(frozen=True, slots=True, kw_only=True)
class _Batch:
    """Rows on their way, with what is known of their keys.

    Attributes:
        rows: The rows.
        kinds: Their kinds.
        partitions: The partition of each.
        codes: The key of each, as a position in the others.
        keys: The keys, all different.
        numbers: Their numbers in the locations.
        order: The rows by key, those of one key from old to new.
        starts: True at the first row of each key in that order.
    """

    rows: pa.Table
    kinds: Kinds | None
    partitions: Numbers
    codes: Numbers
    keys: ArrowArray
    numbers: Numbers
    order: Numbers
    starts: Mask


@dataclass(slots=True, kw_only=True)
class CrossPartitionBuckets:
    """Sends rows to where their keys are, and deletes what a key leaves behind.

    Attributes:
        table_schema: The schema that is written.
        growth: When a bucket is full.
        engine: What a row of a key in another partition does.
        stored: Gives the keys that the table has; those that `learn` was told are not among them.
        location: The table, for messages.
        tasks: How many tasks write at once, each the keys of its share.
    """

    table_schema: TableSchema
    growth: BucketGrowth
    engine: MergeEngine
    stored: Callable[[], Iterator[StoredKeys]]
    location: str
    tasks: int = 1
    _share: Share | None = field(default=None, init=False)
    _locations: KeyLocations = field(default_factory=KeyLocations, init=False)
    _is_loaded: bool = field(default=False, init=False)
    _numbers: dict[bytes, int] = field(default_factory=dict, init=False)
    _values: list[tuple[object, ...]] = field(default_factory=list, init=False)
    _rooms: list[BucketRoom] = field(default_factory=list, init=False)

    def route(self, rows: pa.Table, kinds: Kinds | None) -> Iterator[RoutedRows]:
        """The rows by bucket, deletes of what keys left behind among them.

        Raises:
            CorruptTableError: The table has a key in two partitions.
            InvalidTableError: A partition would have more buckets than the format knows.
        """
        if rows.num_rows == 0:
            return
        if not self._is_loaded:
            self._load()
        batch = self._batch(rows, kinds)
        match self.engine:
            case MergeEngine.DEDUPLICATE:
                yield from self._moving(batch)
            case MergeEngine.PARTIAL_UPDATE | MergeEngine.AGGREGATION:
                partitions, buckets = self._staying(batch)
                yield from self._routed(rows, kinds, partitions=partitions, buckets=buckets)
            case MergeEngine.FIRST_ROW:
                partitions, buckets = self._staying(batch)
                kept = partitions == batch.partitions
                yield from self._routed(
                    rows.filter(pa.array(kept)),
                    None if kinds is None else kinds[kept],
                    partitions=partitions[kept],
                    buckets=buckets[kept],
                )

    def held_back(self) -> Iterator[RoutedRows]:
        """Nothing."""
        return iter(())

    def finish(self) -> list[CommitMessage]:
        """There is no stored index."""
        return []

    def close(self) -> None:
        """Forgets the keys."""
        self._locations = KeyLocations()

    def learn(self, stored: StoredKeys) -> None:
        """Takes keys that the table has, before the first row.

        Raises:
            CorruptTableError: The table has a key in two partitions.
        """
        own = self._partition_numbers(stored.places)
        encoded = encode_dictionary(self._key_rows(stored.keys))
        codes = encoded.indices.to_numpy()
        numbers = self._locations.find(encoded.dictionary)
        partitions, _ = self._locations.places(numbers)
        new = np.flatnonzero(numbers == NOWHERE)
        first = np.unique(codes, return_index=True)[1]
        partitions[new] = own[first[new]]
        elsewhere = np.flatnonzero(partitions[codes] != own)
        if len(elsewhere):
            raise CorruptTableError(
                self.location,
                f"a key is in partition {self._values[own[elsewhere[0]]]} and in another one:"
                " several writers were at work at once. Delete one of its rows",
            )
        self._locations.add(
            taken(encoded.dictionary, new), partitions[new], stored.buckets[first[new]]
        )

    def _load(self) -> None:
        for stored in self.stored():
            self.learn(stored)
        partitions, buckets, counts = self._locations.counts()
        for number in range(len(self._rooms)):
            mine = partitions == number
            by_number = np.full(int(buckets[mine].max(initial=-1)) + 1, -1, np.int64)
            by_number[buckets[mine]] = counts[mine]
            self._rooms[number] = BucketRoom(self.growth, by_number)
        self._is_loaded = True

    def _batch(self, rows: pa.Table, kinds: Kinds | None) -> _Batch:
        places = PartitionedRows.of(rows, self.table_schema)
        own = self._partition_numbers(places)
        encoded = encode_dictionary(self._key_rows(rows))
        codes = encoded.indices.to_numpy().astype(np.int64)
        order = np.argsort(codes, kind="stable")
        return _Batch(
            rows=rows,
            kinds=kinds,
            partitions=own,
            codes=codes,
            keys=encoded.dictionary,
            numbers=self._locations.find(encoded.dictionary),
            order=order,
            starts=np.diff(codes[order], prepend=-1) != 0,
        )

    def _moving(self, batch: _Batch) -> Iterator[RoutedRows]:
        """Each row goes where it says; what its key leaves behind is deleted."""
        order, starts = batch.order, batch.starts
        own = batch.partitions[order]
        stored_partitions, stored_buckets = self._locations.places(
            batch.numbers[batch.codes[order]]
        )
        before = np.where(starts, stored_partitions, np.roll(own, 1))
        enters = before != own
        buckets = np.where(starts & ~enters, stored_buckets, NOWHERE).astype(np.int32)
        entering = np.flatnonzero(enters)
        entering = entering[np.argsort(order[entering])]
        hashes = hash_rows(batch.keys)[batch.codes[order[entering]]]
        buckets[entering] = self._placed(own[entering], hashes)
        told = np.maximum.accumulate(np.where(enters | starts, np.arange(len(order)), 0))
        buckets = buckets[told]
        left = np.flatnonzero(enters & (before != NOWHERE))
        left_buckets = np.where(starts, stored_buckets, np.roll(buckets, 1))[left]
        self._leave(before[left], left_buckets)
        last = np.flatnonzero(np.append(starts[1:], True))
        self._remember(batch, own[last], buckets[last])
        arrived = np.empty_like(buckets)
        arrived[order] = buckets
        yield from self._with_deletes(
            batch, arrived, rows=order[left], partitions=before[left], buckets=left_buckets
        )

    def _with_deletes(
        self,
        batch: _Batch,
        arrived: Buckets,
        *,
        rows: Numbers,
        partitions: Numbers,
        buckets: Buckets,
    ) -> Iterator[RoutedRows]:
        """The rows of a batch, and a -D before each of some rows.

        Args:
            batch: The rows.
            arrived: Their buckets.
            rows: The rows whose keys leave another place.
            partitions: The partition that each of them leaves.
            buckets: The bucket there.
        """
        if len(rows) == 0:
            yield from self._routed(
                batch.rows, batch.kinds, partitions=batch.partitions, buckets=arrived
            )
            return
        count = batch.rows.num_rows
        sources = np.concatenate([rows, np.arange(count)])
        order = np.argsort(np.concatenate([2 * rows, 2 * np.arange(count) + 1]), kind="stable")
        kinds = np.full(count, INSERT, np.int8) if batch.kinds is None else batch.kinds
        deletes = np.full(len(rows), DELETE, np.int8)
        yield from self._routed(
            batch.rows.combine_chunks().take(sources[order]),
            np.concatenate([deletes, kinds])[order],
            partitions=np.concatenate([partitions, batch.partitions])[order],
            buckets=np.concatenate([buckets, arrived])[order],
        )

    def _staying(self, batch: _Batch) -> tuple[Numbers, Buckets]:
        """Partition and bucket of each row: where its key is, or where it first comes to."""
        partitions, buckets = self._locations.places(batch.numbers)
        firsts = batch.order[batch.starts]
        new = np.flatnonzero(batch.numbers == NOWHERE)  # in the order that they came
        partitions[new] = batch.partitions[firsts[new]]
        buckets[new] = self._placed(partitions[new], hash_rows(batch.keys)[new])
        self._remember(batch, partitions, buckets)
        return partitions[batch.codes], buckets[batch.codes]

    def _routed(
        self, rows: pa.Table, kinds: Kinds | None, *, partitions: Numbers, buckets: Buckets
    ) -> Iterator[RoutedRows]:
        """Rows by bucket, their partition columns set to the partitions that they go to."""
        serialized = list(self._numbers)
        columns = partition_table(
            pa.array(serialized, pa.binary()), self.table_schema.partition_type.fields
        )
        for name in self.table_schema.partition_keys:
            index = rows.column_names.index(name)
            field_type = rows.schema.field(index)
            values = taken(joined(columns.column(name).cast(field_type.type)), partitions)
            rows = rows.set_column(index, field_type, values)
        yield from by_bucket(
            rows,
            kinds,
            places=PartitionedRows(partitions, serialized, self._values),
            buckets=buckets,
            total_buckets=NOT_FIXED,
        )

    def _remember(self, batch: _Batch, partitions: Numbers, buckets: Buckets) -> None:
        """Where each key of a batch is now."""
        is_known = batch.numbers != NOWHERE
        self._locations.move(batch.numbers[is_known], partitions[is_known], buckets[is_known])
        new = np.flatnonzero(~is_known)
        if len(new):
            self._locations.add(taken(batch.keys, new), partitions[new], buckets[new])

    def _placed(self, partitions: Numbers, hashes: npt.NDArray[np.int32]) -> Buckets:
        buckets = np.empty(len(partitions), np.int32)
        owners = self._owners(hashes)
        for number in np.unique(partitions).tolist():
            mine = np.flatnonzero(partitions == number)
            buckets[mine] = self._rooms[number].place(hashes[mine], owners[mine])
        return buckets

    def _owners(self, hashes: npt.NDArray[np.int32]) -> Buckets:
        owners = assigners_of(hashes, 0, self.growth.assigners)
        if len(owners):
            self._share = self._share or Share.of(owners, tasks=self.tasks)
            self._share.check(owners)
        return owners

    def _leave(self, partitions: Numbers, buckets: Buckets) -> None:
        for number in np.unique(partitions).tolist():
            self._rooms[number].leave(buckets[partitions == number])

    def _partition_numbers(self, places: PartitionedRows) -> Numbers:
        pairs = zip(places.partitions, places.values, strict=True)
        numbers = np.array([self._partition_number(*pair) for pair in pairs], np.int64)
        return numbers[places.codes]

    def _partition_number(self, partition: bytes, values: tuple[object, ...]) -> int:
        number = self._numbers.get(partition)
        if number is None:
            number = self._numbers[partition] = len(self._numbers)
            self._values.append(values)
            self._rooms.append(BucketRoom(self.growth))
        return number

    def _key_rows(self, rows: pa.Table) -> ArrowArray:
        """The BinaryRow of each row's whole primary key."""
        names: Sequence[str] = self.table_schema.primary_keys
        types = [self.table_schema.field(name).type for name in names]
        columns = [rows.column(name) for name in names]
        return one_array(encode_rows(columns, types, with_arity=False))
