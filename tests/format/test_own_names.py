"""Which names cleaning may delete, and which it never does."""

import pyarrow as pa
import pytest

from lakebed.format.arrow.typing import ArrowColumn
from lakebed.format.own_names import OwnNames
from lakebed.format.paths import FileNames, later_file_index_name
from support.golden_manifests import DATABASE

UUID = "0f0e0d0c-1111-2222-3333-444444444444"
NAMES = OwnNames.with_prefixes(["odd.", ""])
USUAL = OwnNames.with_prefixes([])

FILES = [
    f"data-{UUID}-0.parquet",
    f"data-{UUID}-12.orc.index",
    f"data-{UUID}-12.parquet-{UUID}.index",
    f"data-{UUID}-0.csv.gz",
    f"data--u-me-s-3-w-{UUID}-0.avro",
    f"changelog-{UUID}-1.parquet",
    f"compacted-changelog-{UUID}$0-90.cc-parquet",
    f"manifest-{UUID}-0",
    f"manifest-list-{UUID}-0",
    f"index-manifest-{UUID}-0",
    f"index-{UUID}-0",
    f"btree-global-index-{UUID}.index",
    f"stat-{UUID}-0",
]
DRAFTS = [
    f".snapshot-7.{UUID}.tmp",
    ".schema-0.0123456789abcdef.tmp",
    f".LATEST.{UUID}.tmp",
    f"..lakebed-expired-3.{UUID}.tmp",
    f".tag-a b.{UUID}.tmp",
    f"._SUCCESS.{UUID}.tmp",
    f".data-{UUID}-0.parquet.{UUID}.tmp",
]
OTHERS = [
    "snapshot-7",
    "schema-0",
    "changelog-7",
    "tag-a",
    f"tag-{UUID}-0",
    "consumer-a",
    "service-primary-key-lookup",
    "LATEST",
    "EARLIEST",
    "_SUCCESS",
    ".lakebed-expired-3",
    "part-00000.parquet",
    "data-2026.parquet",
    f"mydata-{UUID}-0.parquet",
    f"data-{UUID}-0.managed.blob",
    f"data-{UUID}-0",
    f"{UUID}-0.parquet",
    f".data-{UUID}-0.parquet.crc",
    ".notes.swp",
    f".notes.{UUID}.tmp",
    "",
]


def column(names: list[str]) -> ArrowColumn:
    column: ArrowColumn = pa.array(names, pa.string())
    return column


@pytest.mark.parametrize(
    ("names", "are_files", "are_drafts"),
    [(FILES, True, False), (DRAFTS, True, True), (OTHERS, False, False)],
)
def test_names_are_told_apart(names: list[str], *, are_files: bool, are_drafts: bool) -> None:
    found = dict(zip(names, USUAL.are_files(column(names)), strict=True))
    assert found == dict.fromkeys(names, are_files)
    drafts = dict(zip(names, USUAL.are_drafts(column(names)), strict=True))
    assert drafts == dict.fromkeys(names, are_drafts)


def test_prefixes_of_options_count_to_the_letter() -> None:
    names = [f"odd.{UUID}-0.parquet", f"{UUID}-0.parquet", f"odd-{UUID}-0.parquet"]
    assert NAMES.are_files(column(names)).tolist() == [True, True, False]


def test_the_names_that_lakebed_gives_are_its_own() -> None:
    given = FileNames(lambda: UUID)
    names = [
        given.data_file(),
        given.changelog_file("orc"),
        given.manifest(),
        given.manifest_list(),
        given.index_manifest(),
        given.index(),
        given.statistics(),
        later_file_index_name(given.data_file(), UUID),
    ]
    assert USUAL.are_files(column(names)).all()


def test_the_names_that_real_writers_gave_are_their_own() -> None:
    directories = [
        each
        for pattern in ("*/manifest", "*/index", "*/statistics", "*/**/bucket-*")
        for each in DATABASE.glob(pattern)
    ]
    names = [file.name for each in directories for file in each.iterdir() if file.is_file()]
    assert len(names) > 1000
    is_own = USUAL.are_files(column(names))
    assert [name for name, own in zip(names, is_own, strict=True) if not own] == []
