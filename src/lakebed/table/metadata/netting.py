"""Which files of a table are live, found one manifest at a time (format.md 7)?

Manifests come newest first, so most DELETEs are met before the ADDs that they take back, and those
ADDs are dropped at once: what is held is about the live files, however long the history is.

    manifest 3   DELETE a, ADD c     held: c            pending: a
    manifest 2   ADD b               held: c b          pending: a
    manifest 1   ADD a               held: c b          pending:

The order only saves memory. Writers may list manifests in any order, so a DELETE may be older than
its ADD, and a file may have been added, deleted and added again: whatever did not meet one to one
on the way is counted at the end.

A file that gets another index is deleted and added in one manifest. That ADD is the newer one: a
DELETE takes back what older manifests added.

The surprising thing: identities are compared as 128-bit fingerprints, not as text. In a table of
ten million files two share one with a probability of 1e-25, which is less than memory fails.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from lakebed.errors import CorruptTableError
from lakebed.format.data_file_meta import FileKind

Mask = npt.NDArray[np.bool_]
Positions = npt.NDArray[np.intp]
Words = npt.NDArray[np.uint64]

IDENTITY_COLUMNS = ("kind", "partition", "bucket", "level", "file_name")

_SEEDS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)
_PLACE = ("bucket", "level")
_HALF = np.uint64(32)


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Identities of entries as two words each, sorted by the first.

    Attributes:
        first: Sorted.
        second: Of the same entry.
        rows: Which entry.
    """

    first: Words
    second: Words
    rows: Positions

    @classmethod
    def of(cls, entries: pa.Table) -> "Fingerprints":
        """Those of the entries (partition, bucket, level, file name)."""
        if not entries.num_rows:
            return cls.joined([])
        first, second = _fingerprints(entries)
        return _sorted(cls(first, second, np.arange(len(first))))

    @classmethod
    def joined(cls, parts: Sequence["Fingerprints"]) -> "Fingerprints":
        """Those of several tables as if these stood one after the other."""
        starts = np.cumsum([0, *(len(part.rows) for part in parts)])[:-1].tolist()
        rows = [part.rows + start for part, start in zip(parts, starts, strict=True)]
        joined = cls(
            np.concatenate([np.empty(0, np.uint64), *(part.first for part in parts)]),
            np.concatenate([np.empty(0, np.uint64), *(part.second for part in parts)]),
            np.concatenate([np.empty(0, np.intp), *rows]),
        )
        return _sorted(joined)

    def kept(self, mask: Mask) -> "Fingerprints":
        """Some of them; entries are numbered anew."""
        rows = self.rows[mask]
        places = np.empty(len(self.rows), np.intp)
        places[np.sort(rows)] = np.arange(len(rows))
        return Fingerprints(self.first[mask], self.second[mask], places[rows])


def _sorted(prints: Fingerprints) -> Fingerprints:
    order = np.argsort(prints.first, kind="stable")
    return Fingerprints(prints.first[order], prints.second[order], prints.rows[order])


def _fingerprints(entries: pa.Table) -> list[Words]:
    """A word of each entry for each of the seeds."""
    names = _hashed(pl.Series(entries.column("file_name")))
    encoded = entries.column("partition").combine_chunks().dictionary_encode()
    partitions, of_partition = _hashed(pl.Series(encoded.dictionary)), encoded.indices.to_numpy()
    bucket, level = (entries.column(name).to_numpy().astype(np.int64) for name in _PLACE)
    places = ((bucket << 32) ^ level).view(np.uint64)
    return [
        _mixed(_mixed(name, partition[of_partition], seed), places, seed)
        for seed, name, partition in zip(_SEEDS, names, partitions, strict=True)
    ]


def _hashed(values: pl.Series) -> list[Words]:
    """A word of each value for each of the seeds, all of them in one query."""
    by_seed = values.to_frame("value").select(
        pl.col("value").hash(seed).alias(str(seed)) for seed in _SEEDS
    )
    return [words.to_numpy() for words in by_seed.get_columns()]


def _mixed(words: Words, others: Words, seed: int) -> Words:
    """One word of two: for equal `words`, other `others` give another one."""
    mixed = (words ^ others) * np.uint64(seed | 1)
    return mixed ^ (mixed >> _HALF)


@dataclass(frozen=True, slots=True)
class ManifestPart:
    """What netting must know of a manifest.

    Attributes:
        adds: Its ADD entries, or those of them that are wanted.
        add_prints: Their identities.
        delete_prints: Identities of its DELETE entries.
    """

    adds: pa.Table
    add_prints: Fingerprints
    delete_prints: Fingerprints

    @classmethod
    def of(cls, adds: pa.Table, deletes: pa.Table) -> "ManifestPart":
        """Of entries with at least `IDENTITY_COLUMNS`."""
        return cls(adds, Fingerprints.of(adds), Fingerprints.of(deletes))


def by_kind(entries: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The ADD entries, and what identifies the DELETE entries."""
    is_add = entries.column("kind").to_numpy() == FileKind.ADD
    adds = entries if is_add.all() else entries.filter(pa.array(is_add))
    return adds, entries.select(IDENTITY_COLUMNS).filter(pa.array(~is_add))


class Netting:
    """Collects the live files of manifests that are given newest first."""

    def __init__(self, *, source: str) -> None:
        """Begins with no file.

        Args:
            source: The table, for errors.
        """
        self._source = source
        self._held: list[tuple[pa.Table, Fingerprints]] = []
        self._pending = Fingerprints.joined([])

    def add(self, part: ManifestPart) -> None:
        """Takes the entries of the next older manifest."""
        gone, met = _pairs(part.add_prints, self._pending)
        pending = self._pending.kept(~met) if met.any() else self._pending
        self._pending = Fingerprints.joined([pending, part.delete_prints])
        if not gone.any():
            self._held.append((part.adds, part.add_prints))
            return
        left = np.ones(part.adds.num_rows, np.bool_)
        left[part.add_prints.rows[gone]] = False
        self._held.append((part.adds.filter(pa.array(left)), part.add_prints.kept(~gone)))

    def finish(self) -> pa.Table | None:
        """The live files in the order of the manifests, oldest first; None without a manifest.

        Raises:
            CorruptTableError: A file was added twice.
        """
        if not self._held:
            return None
        self._held.reverse()
        live = pa.concat_tables([adds for adds, _ in self._held])
        prints = [prints for _, prints in self._held]
        self._held.clear()
        if not self._is_doubtful(np.sort(np.concatenate([each.first for each in prints]))):
            return live
        left = np.ones(live.num_rows, np.bool_)
        left[self._gone(live, Fingerprints.joined(prints))] = False
        return live.filter(pa.array(left))

    def _is_doubtful(self, words: Words) -> bool:
        """Whether some file is there twice, or has a DELETE that did not meet it."""
        if (words[1:] == words[:-1]).any():
            return True
        return bool(np.isin(self._pending.first, words, assume_unique=True).any())

    def _gone(self, live: pa.Table, prints: Fingerprints) -> Positions:
        """Rows that are not live: counted out, or said again by a later one."""
        doubtful = ~_alone(prints.first) | np.isin(prints.first, self._pending.first)
        rows = prints.rows[doubtful]
        words = np.column_stack([prints.first[doubtful], prints.second[doubtful]])
        deletes = np.column_stack([self._pending.first, self._pending.second])
        _, group = np.unique(np.vstack([words, deletes]), axis=0, return_inverse=True)
        group = group.reshape(-1)
        adds, others = group[: len(rows)], group[len(rows) :]
        size = int(group.max()) + 1
        balance = np.bincount(adds, minlength=size) - np.bincount(others, minlength=size)
        if (balance[adds] > 1).any():
            twice = int(rows[balance[adds] > 1].min())
            name = live.column("file_name")[twice].as_py()
            raise CorruptTableError(self._source, f"data file {name} is added or deleted twice")
        last = np.full(size, -1)
        np.maximum.at(last, adds, rows)
        gone: Positions = rows[(balance[adds] < 1) | (rows != last[adds])]
        return gone


def _pairs(adds: Fingerprints, deletes: Fingerprints) -> tuple[Mask, Mask]:
    """Which ADDs and DELETEs meet one to one; any that is there twice is left alone."""
    met = np.zeros(len(deletes.first), np.bool_)
    if len(deletes.first) == 0 or len(adds.first) == 0:
        return np.zeros(len(adds.first), np.bool_), met
    places = np.searchsorted(deletes.first, adds.first)
    places = np.minimum(places, len(deletes.first) - 1)
    gone = (deletes.first[places] == adds.first) & (deletes.second[places] == adds.second)
    gone &= _alone(adds.first) & _alone(deletes.first)[places]
    met[places[gone]] = True
    return gone, met


def _alone(words: Words) -> Mask:
    """Which of sorted words are there once."""
    alone = np.ones(len(words), np.bool_)
    repeated = words[1:] == words[:-1]
    alone[1:] &= ~repeated
    alone[:-1] &= ~repeated
    return alone
