"""Orphan files of copies of one table, as Lakebed and as the real Paimon 1.4.2 find them."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakebed.storage.local import LocalFileIO
from support.cleaned_tables import clean, litter
from support.needed_files import lacking_and_unneeded, put_branch, put_tag
from support.store_listing import list_files
from support.table_builder import Shape, Step, build_table
from tools.peers.referee import Referee

pytestmark = pytest.mark.peers

STEPS = (
    Step("write", range(8)),
    Step("write", range(4, 10)),
    Step("delete", (1, 5)),
    Step("overwrite", range(3)),
    Step("write", range(2, 6)),
)
SHAPES = {
    "keyed": Shape(buckets=2, is_partitioned=True),
    "changelogs": Shape(buckets=1).with_options({"changelog-producer": "lookup"}),
    "hash index": Shape(buckets=-1),
    "postponed": Shape(buckets=-2),
    "file indexes": Shape(has_primary_key=False, buckets=1).with_options(
        {"file-index.bloom-filter.columns": "note", "file-index.in-manifest-threshold": "1 b"}
    ),
    "marked": Shape(has_primary_key=False, buckets=-1).with_options(
        {"deletion-vectors.enabled": "true"}
    ),
}
STAGED = ".lakebed-staging-"


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    referee = Referee()
    yield referee
    referee.close()


def below(paths: set[str], directory: Path) -> set[str]:
    return {str(Path(each).relative_to(directory)) for each in paths}


@pytest.mark.parametrize("name", SHAPES)
def test_lakebed_and_the_real_paimon_find_the_same_orphans(
    name: str, referee: Referee, tmp_path: Path
) -> None:
    steps = STEPS[:2] if name == "postponed" else STEPS
    built = build_table(
        SHAPES[name], steps, file_io=LocalFileIO(), warehouse=str(tmp_path / "ours")
    )
    ours, theirs = (tmp_path / each / "db.db" / "t" for each in ("ours", "theirs"))
    put_tag(built.table, "held", 2)
    put_branch(built.table, "dev", "held")
    built.table.expire_snapshots(retain_max=2, retain_min=2)
    assert clean(built.table, dry_run=True) == set()
    assert referee.orphans(ours, dry_run=True) == set()
    litter(built.table)
    shutil.copytree(ours, theirs)
    found = below(clean(built.table), ours)
    # Paimon leaves alone what is not of its making, and drafts beside schemas and tags.
    unsought = {each for each in found if each.startswith((STAGED, "schema/", "tag/"))}
    assert below(referee.orphans(theirs), theirs) == found - unsought
    assert len(unsought) == 3
    left = below(set(list_files(built.file_io, str(ours))), ours)
    assert below(set(list_files(built.file_io, str(theirs))), theirs) == left | unsought
    assert lacking_and_unneeded(built.table, ["dev"]) == (set(), set())
