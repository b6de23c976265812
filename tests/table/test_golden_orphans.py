"""Cleanings of copies of the golden tables, where the real Paimon 2.1 wrote every file."""

import shutil
from pathlib import Path

import pytest

import lakebed
from lakebed.storage.local import LocalFileIO
from support.cleaned_tables import clean
from support.golden_manifests import DATABASE
from support.needed_files import lacking_and_unneeded

TABLES = sorted(each.name for each in DATABASE.iterdir() if (each / "snapshot").is_dir())


@pytest.mark.parametrize("name", TABLES)
def test_nothing_that_a_golden_table_needs_goes(name: str, tmp_path: Path) -> None:
    path = tmp_path / "db.db" / name
    shutil.copytree(DATABASE / name, path)
    table = lakebed.load_table(str(path))
    names = [each.name for each in LocalFileIO().list(f"{path}/branch")]
    branches = [each.removeprefix("branch-") for each in names]
    lacking, unneeded = lacking_and_unneeded(table, branches)
    found = clean(table)
    assert found <= unneeded
    assert lacking_and_unneeded(table, branches) == (lacking, unneeded - found)
    assert lacking == set()
