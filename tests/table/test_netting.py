"""Live files found manifest by manifest, whatever the order and however often a file came back."""

import random
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from lakebed.errors import CorruptTableError
from lakebed.format.arrow.typing import python_values
from lakebed.format.data_file_meta import EMPTY_STATS, DataFileMeta, FileKind, ManifestEntry
from lakebed.format.manifest import entries_to_columns
from lakebed.table.metadata import netting
from lakebed.table.metadata.entries import Identity, identity, live_identities
from lakebed.table.metadata.netting import ManifestPart, Netting, by_kind

ADD, DELETE = FileKind.ADD, FileKind.DELETE


def entry(kind: FileKind, name: str, *, bucket: int = 0, level: int = 0) -> ManifestEntry:
    file = DataFileMeta(
        file_name=name,
        file_size=1,
        row_count=1,
        min_key=b"",
        max_key=b"",
        key_stats=EMPTY_STATS,
        value_stats=EMPTY_STATS,
        min_sequence_number=0,
        max_sequence_number=0,
        schema_id=0,
        level=level,
    )
    return ManifestEntry(kind=kind, partition=b"p", bucket=bucket, total_buckets=1, file=file)


def live(*manifests: list[ManifestEntry]) -> list[str]:
    """File names of the live files of some manifests, oldest first."""
    return python_values(net(*manifests).column("file_name"))


def net(*manifests: list[ManifestEntry]) -> pa.Table:
    found = Netting(source="t")
    for manifest in reversed(manifests):
        found.add(ManifestPart.of(*by_kind(entries_to_columns(manifest))))
    table = found.finish()
    assert table is not None
    return table


def test_a_delete_of_a_newer_manifest_takes_an_add_back() -> None:
    assert live([entry(ADD, "a"), entry(ADD, "b")], [entry(DELETE, "a"), entry(ADD, "c")]) == [
        "b",
        "c",
    ]


def test_a_delete_of_an_older_manifest_takes_an_add_back_too() -> None:
    assert live([entry(DELETE, "a")], [entry(ADD, "a"), entry(ADD, "b")]) == ["b"]


def test_a_file_that_was_added_again_is_live_once() -> None:
    again = [entry(ADD, "a")], [entry(DELETE, "a")], [entry(ADD, "a")]
    assert live(*again) == ["a"]
    assert live([entry(ADD, "a"), entry(DELETE, "a"), entry(ADD, "a")]) == ["a"]


def test_a_delete_takes_back_nothing_of_another_bucket_or_level() -> None:
    others = [entry(DELETE, "a", bucket=1), entry(DELETE, "a", level=1)]
    assert live([entry(ADD, "a")], others) == ["a"]


def test_a_file_that_gets_another_index_is_live_with_the_newer_one() -> None:
    def indexed(kind: FileKind, name: str) -> ManifestEntry:
        plain = entry(kind, "a")
        return replace(plain, file=replace(plain.file, extra_files=(name,)))

    once = [entry(ADD, "a")], [entry(DELETE, "a"), indexed(ADD, "x")]
    twice = [indexed(DELETE, "x"), indexed(ADD, "y")]
    for manifests, index in ((once, "x"), ((*once, twice), "y"), ((once[0] + once[1], twice), "y")):
        assert net(*manifests).column("extra_files").to_pylist() == [[index]]
    assert live(*once, twice, [indexed(DELETE, "y")]) == []


def test_files_come_in_the_order_of_their_manifests() -> None:
    assert live([entry(ADD, "c")], [entry(ADD, "a")], [entry(ADD, "b")]) == ["c", "a", "b"]


def test_a_file_that_two_manifests_add_is_corrupt() -> None:
    with pytest.raises(CorruptTableError, match="data file a is added or deleted twice"):
        live([entry(ADD, "a")], [entry(ADD, "b")], [entry(ADD, "a")])


def test_no_manifest_is_no_table() -> None:
    assert Netting(source="t").finish() is None


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("bits", [64, 2], ids=["", "hardly any hash"])
def test_any_history_comes_to_what_a_set_says(
    seed: int, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fingerprints = netting._fingerprints

    def weak(entries: pa.Table) -> list[netting.Words]:
        first, second = fingerprints(entries)
        # Only the first word is weakened: the second still tells identities apart.
        return [first >> np.uint64(64 - bits), second]

    monkeypatch.setattr(netting, "_fingerprints", weak)
    chance = random.Random(seed)
    history: list[ManifestEntry] = []
    model: set[Identity] = set()
    for _ in range(60):
        probe = entry(ADD, f"f{chance.randrange(9)}", level=chance.randrange(2))
        kind = DELETE if identity(probe) in model else ADD
        history.append(entry(kind, probe.file.file_name, level=probe.file.level))
        model ^= {identity(probe)}
    cuts = sorted(chance.sample(range(60), 4))
    parts = [history[a:b] for a, b in zip([0, *cuts], [*cuts, 60], strict=True)]
    assert live_identities(net(*parts)) == model
    chance.shuffle(parts)
    assert live_identities(net(*parts)) == model
