"""Which of many names of files does a table need?

A name counts, not a path: what two spellings of one place name must not be taken for an orphan. All
that names files is read, of every branch, and each manifest once, however many snapshots name it.
What deletes counts too, so a file that a manifest still adds and another one deletes is no longer
needed:

    manifest      1        2        3         snapshot 7: 1, 2       snapshot 8: 1, 2, 3
    file a       ADD    DELETE                not needed             not needed
    file b       ADD                          needed, whoever names manifest 1
    file c              ADD      DELETE       needed                 not needed

Whoever deletes snapshots deletes them before their files. So a file of metadata that is gone says
that what named it is gone too, which is looked for; if it is there still, the table is damaged, and
nothing is known of what it needs.

What comes meanwhile is read too, until nothing has come since the last look. So a tag that is made
of a snapshot which expires then, or a branch, is seen in one place or the other.

The surprising thing: names are compared as 64-bit words, so that tasks elsewhere need not have them
all. Two names of one word keep each other's file.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from lakebed.errors import NotFoundError, UnsupportedError
from lakebed.format.arrow.typing import ArrowColumn, python_values
from lakebed.format.data_file_meta import FileKind
from lakebed.format.manifest import ManifestFileMeta
from lakebed.format.snapshot import Snapshot
from lakebed.table.expiry.metadata_files import MetadataReader
from lakebed.table.expiry.references import BranchReferences, find_references
from lakebed.table.parts import TableParts
from lakebed.table.spreading import Spread

Mask = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]

_ENTRY_COLUMNS = frozenset({"kind", "partition", "bucket", "level", "file_name", "extra_files"})
_IDENTITY = ["partition", "bucket", "level", "file_name", "extra_files"]
_SEED = 0x9E3779B97F4A7C15
_PROBE = "which hash is this?"
# What is read of manifests before it is shrunk to what is asked for, at a time.
_BATCH_BYTES = 64 << 20


class Manifest(NamedTuple):
    """A manifest as a list names it."""

    name: str
    size_bytes: int

    @classmethod
    def of(cls, meta: ManifestFileMeta) -> "Manifest":
        """What a list says of it."""
        return cls(meta.file_name, meta.file_size)


@dataclass(frozen=True, slots=True)
class Reference:
    """Something that names files.

    Attributes:
        kind: What it is; a copy is of a snapshot whose expiry did not come to its end.
        snapshot: What it says.
    """

    kind: Literal["snapshot", "tag", "changelog", "copy"]
    snapshot: Snapshot

    @property
    def may_lack(self) -> bool:
        """Whether files that it names may be gone."""
        return self.kind in ("changelog", "copy")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """What the lists say that a reference names.

    Attributes:
        names: Names of files of metadata, and of index files.
        whole: The manifests that together say which data files it needs.
        added: Manifests of which it needs all that they add.
    """

    names: frozenset[str]
    whole: tuple[Manifest, ...]
    added: tuple[Manifest, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mentions:
    """Which of the names that are asked for a manifest names.

    Attributes:
        places: Where the names are among those asked for.
        files: A word for each file that they stand in a row with: the data file, as it was added.
        signs: 1 where it is added, -1 where it is deleted.
    """

    places: npt.NDArray[np.intp]
    files: Words
    signs: npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class NameWords:
    """Names as words; picklable.

    Attributes:
        words: Ascending, each once.
        probe: A word that is another one where words are made in another way.
    """

    words: Words
    probe: int

    @classmethod
    def of(cls, names: ArrowColumn) -> "NameWords":
        """The words of names."""
        return cls(np.unique(_words(pl.Series(names))), _probe())

    def places(self, names: pl.Series) -> npt.NDArray[np.intp]:
        """Where names are among these; -1 for those that are not.

        Raises:
            UnsupportedError: Words are made here in another way than there.
        """
        if self.probe != _probe():
            raise UnsupportedError(
                "this process has another version of polars than the driver, in which names have"
                " other hashes. Install the same one; nothing was deleted"
            )
        words = _words(names)
        if not len(self.words):
            return np.full(len(words), -1, np.intp)
        found = np.minimum(np.searchsorted(self.words, words), len(self.words) - 1)
        places: npt.NDArray[np.intp] = np.where(self.words[found] == words, found, -1)
        return places


def needed_among(parts: TableParts, names: ArrowColumn, spread: Spread) -> Mask:
    """Which of some names of files the table needs.

    Args:
        parts: The table, or one of its branches.
        names: The names; listed before this is called, so that no file is older than what names it.
        spread: For many files; what it calls can be pickled.

    Raises:
        CorruptTableError: Something that may need files cannot be read.
        NotFoundError: It is gone, and what names it is there.
        UnsupportedError: It is of a newer version.
    """
    asked = NameWords.of(names)
    is_needed = np.zeros(len(asked.words), np.bool_)
    read: set[bytes] = set()
    missed: dict[bytes, NotFoundError] = {}
    mentions: dict[Manifest, _Mentions] = {}
    while True:
        found = _keyed(find_references(parts))
        for key, error in missed.items():
            if key in found:
                raise error
        new = {key: each for key, each in found.items() if key not in read}
        if not new:
            needed: Mask = is_needed[asked.places(pl.Series(names))]
            return needed
        looked, missed = _look(parts, asked, new, mentions=mentions, spread=spread)
        is_needed |= looked
        read |= new.keys() - missed.keys()


def _keyed(branches: Iterable[BranchReferences]) -> dict[bytes, Reference]:
    found = (
        reference
        for branch in branches
        for reference in (
            *(Reference("snapshot", each) for each in branch.snapshots),
            *(Reference("tag", each) for each in branch.tags),
            *(Reference("changelog", each) for each in branch.changelogs),
            *(Reference("copy", each) for each in branch.copies),
        )
    )
    return {each.kind.encode() + each.snapshot.to_json(): each for each in found}


def _look(
    parts: TableParts,
    asked: NameWords,
    references: Mapping[bytes, Reference],
    *,
    mentions: dict[Manifest, _Mentions],
    spread: Spread,
) -> tuple[Mask, dict[bytes, NotFoundError]]:
    """What references need of the names, and which of them named what is gone.

    Manifests that were read before are not read again; those that are read now come to them.
    """
    missed: dict[bytes, NotFoundError] = {}
    told: dict[bytes, _Told] = {}
    answers = spread(partial(_told_by, parts), references.values())
    for key, answer in zip(references, answers, strict=True):
        if isinstance(answer, NotFoundError):
            missed[key] = answer
        else:
            told[key] = answer
    is_needed = np.zeros(len(asked.words), np.bool_)
    named = {name for each in told.values() for name in each.names}
    places = asked.places(pl.Series(sorted(named), dtype=pl.String))
    is_needed[places[places >= 0]] = True
    named_manifests = {one for each in told.values() for one in (*each.whole, *each.added)}
    unread = sorted(named_manifests - mentions.keys())
    found, gone = _read_manifests(parts, asked, unread, spread=spread)
    mentions.update(found)
    for key, each in told.items():
        lost = next((gone[one] for one in each.whole if one in gone), None)
        if lost is not None and not references[key].may_lack:
            missed[key] = lost
    for manifest in {one for each in told.values() for one in each.added} - gone.keys():
        mentioned = mentions[manifest]
        is_needed[mentioned.places[mentioned.signs > 0]] = True
    views = [[one for one in each.whole if one in mentions] for each in told.values()]
    return is_needed | _live(mentions, views, count=len(is_needed)), missed


def _read_manifests(
    parts: TableParts, asked: NameWords, manifests: Sequence[Manifest], *, spread: Spread
) -> tuple[dict[Manifest, _Mentions], dict[Manifest, NotFoundError]]:
    mentions: dict[Manifest, _Mentions] = {}
    gone: dict[Manifest, NotFoundError] = {}
    for batch in _batches(manifests):
        for manifest, answer in zip(
            batch, spread(partial(_mentions_in, parts, asked), batch), strict=True
        ):
            if isinstance(answer, NotFoundError):
                gone[manifest] = answer
            else:
                mentions[manifest] = answer
    return mentions, gone


def _batches(manifests: Sequence[Manifest]) -> Iterator[Sequence[Manifest]]:
    ends = np.cumsum([each.size_bytes for each in manifests]) // _BATCH_BYTES
    for part in np.split(np.arange(len(manifests)), np.flatnonzero(np.diff(ends)) + 1):
        yield [manifests[place] for place in part.tolist()]


def _told_by(parts: TableParts, reference: Reference) -> _Told | NotFoundError:
    """What the lists of a reference say; or that one is gone, as when the reference is."""
    reader = MetadataReader(parts=parts, spread=map, may_lack=reference.may_lack)
    try:
        return _told(reader, reference)
    except NotFoundError as error:
        return error


def _told(reader: MetadataReader, reference: Reference) -> _Told:
    snapshot, kind = reference.snapshot, reference.kind
    changelog = None if kind == "tag" else snapshot.changelog_manifest_list
    # A branch may be older than the expiry of what it was made from, which took the changelog.
    told = reader.lenient.listed(changelog, snapshot.changelog_manifest_list_size)
    whole, added = list[ManifestFileMeta](), list(told)
    names: set[str | None]
    if kind == "changelog":
        # Without changelog files, what the snapshot changed is the changelog.
        added += [] if changelog else reader.delta_files(snapshot)
        names = {None if changelog else snapshot.delta_manifest_list}
    else:
        whole = reader.all_files(snapshot)
        names = {snapshot.base_manifest_list, snapshot.delta_manifest_list}
        names |= {snapshot.index_manifest, snapshot.statistics, *_index_files(reader, snapshot)}
    names |= {changelog, *(meta.file_name for meta in (*whole, *added))}
    return _Told(
        names=frozenset(name for name in names if name is not None),
        whole=tuple(map(Manifest.of, whole)),
        added=tuple(map(Manifest.of, added)),
    )


def _index_files(reader: MetadataReader, snapshot: Snapshot) -> list[str]:
    try:
        listed = reader.parts.manifests.index_columns(snapshot)
    except NotFoundError:
        if not reader.may_lack:
            raise
        return []
    return python_values(listed["file_name"])


def _mentions_in(
    parts: TableParts, asked: NameWords, manifest: Manifest
) -> _Mentions | NotFoundError:
    """Which of the names a manifest names; or that it is gone."""
    reader = MetadataReader(parts=parts, spread=map)
    path = parts.paths.manifest(manifest.name)
    try:
        entries = reader.entries(path, _ENTRY_COLUMNS, size=manifest.size_bytes)
    except NotFoundError as error:
        return error
    return _mentions(entries, asked)


def _mentions(entries: pa.Table, asked: NameWords) -> _Mentions:
    frame = pl.DataFrame(entries)
    flat = frame.with_columns(pl.col("extra_files").list.join("\0"))
    rows = frame.select(
        name=pl.concat_list(pl.concat_list("file_name"), "extra_files"),
        file=flat.select(_IDENTITY).hash_rows(_SEED),
        sign=pl.when(pl.col("kind") == FileKind.ADD).then(1).otherwise(-1).cast(pl.Int8),
    ).explode("name")
    places = asked.places(rows["name"])
    is_asked = places >= 0
    return _Mentions(
        places=places[is_asked],
        files=rows["file"].to_numpy()[is_asked],
        signs=rows["sign"].to_numpy()[is_asked],
    )


def _live(
    mentions: Mapping[Manifest, _Mentions], views: Sequence[Sequence[Manifest]], *, count: int
) -> Mask:
    """Which names stand with a file that some view adds more often than it deletes it.

    Args:
        mentions: What manifests name.
        views: The manifests of each view.
        count: How many names are asked for.
    """
    is_live = np.zeros(count, np.bool_)
    manifests = sorted({one for view in views for one in view})
    found = [mentions[one] for one in manifests]
    if not found:
        return is_live
    places = np.concatenate([each.places for each in found])
    signs = np.concatenate([each.signs for each in found])
    is_deleted = np.zeros(count, np.bool_)
    is_deleted[places[signs < 0]] = True
    # What nobody deletes is live in whatever view adds it.
    is_live[places[(signs > 0) & ~is_deleted[places]]] = True
    doubtful = np.flatnonzero(is_deleted[places])
    places, signs = places[doubtful], signs[doubtful]
    files = np.concatenate([each.files for each in found])[doubtful]
    owners = np.repeat(np.arange(len(found)), [len(each.places) for each in found])[doubtful]
    _, firsts, codes = np.unique(
        np.stack([places.astype(np.uint64), files]), axis=1, return_index=True, return_inverse=True
    )
    numbers = {one: number for number, one in enumerate(manifests)}
    for view in views:
        is_seen = np.zeros(len(found), np.bool_)
        is_seen[[numbers[one] for one in view]] = True
        rows = is_seen[owners]
        net = np.bincount(codes.reshape(-1)[rows], weights=signs[rows], minlength=len(firsts))
        is_live[places[firsts[net > 0]]] = True
    return is_live


def _words(names: pl.Series) -> Words:
    words: Words = names.hash(_SEED).to_numpy()
    return words


def _probe() -> int:
    return int(_words(pl.Series([_PROBE]))[0])
