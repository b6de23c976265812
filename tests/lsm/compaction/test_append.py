"""Which files of an append table are picked."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datadriven.script import check_script
from lakebed.format.data_file_meta import DataFileMeta
from lakebed.lsm.compaction.append import AppendCompaction, DeletedRows
from lakebed.options.compaction_options import CompactionOptions
from lakebed.options.table_options import TableOptions
from lsm.compaction.drawn_buckets import data_file, told_options

# A size, and rows of a hundred that a deletion vector marks, with the index file that holds it.
_FILE = re.compile(r"(?P<size>\d+)((?P<deleted>-\d+|-\?)(?P<index>\w))?")
Bucket = tuple[AppendCompaction, list[DataFileMeta], dict[str, DeletedRows]]


def policy_of(options: dict[str, str]) -> AppendCompaction:
    table = TableOptions.parse(options, has_primary_key=False)
    return AppendCompaction.of(table, CompactionOptions.parse(options))


def told_bucket(told: tuple[str, ...]) -> Bucket:
    options = {"source.split.open-file-cost": "0 b", **told_options(told)}
    words = [word for line in told if " = " not in line for word in line.split()]
    files: list[DataFileMeta] = []
    deleted: dict[str, DeletedRows] = {}
    for place, word in enumerate(words):
        found = _FILE.fullmatch(word)
        assert found is not None, word
        files.append(data_file(f"f{place}", size=int(found["size"]), sequence=place))
        if found["index"]:
            count = None if found["deleted"] == "-?" else int(found["deleted"][1:])
            deleted[f"f{place}"] = DeletedRows(index_file=found["index"], row_count=count)
    return policy_of(options), files, deleted


def drawn(files: tuple[DataFileMeta, ...], why: str) -> str:
    return f"{' '.join(f'{file.file_name}:{file.file_size}' for file in files)}  ({why})"


def bucket(told: tuple[str, ...]) -> list[str]:
    policy, files, _ = told_bucket(told)
    pick = policy.pick_in_bucket(reversed(files))
    return [drawn(pick.files, pick.why) if pick else "nothing"]


def full_bucket(told: tuple[str, ...]) -> list[str]:
    policy, files, deleted = told_bucket(told)
    pick = policy.pick_full_bucket(reversed(files), deleted=deleted)
    return [drawn(pick.files, pick.why) if pick else "nothing"]


def pack(told: tuple[str, ...]) -> list[str]:
    policy, files, deleted = told_bucket(told)
    picks = policy.pack(files, deleted=deleted)
    return [drawn(pick.files, pick.why) for pick in picks] or ["nothing"]


def test_append_picks(request: pytest.FixtureRequest) -> None:
    rewrite = bool(request.config.getoption("--rewrite"))
    path = Path(__file__).with_name("append.txt")
    commands = {"bucket": bucket, "full bucket": full_bucket, "pack": pack}
    check_script(path, commands, rewrite=rewrite)


@given(
    st.lists(st.tuples(st.integers(0, 150), st.sampled_from("abc---"), st.integers(0, 99))),
    st.integers(1, 5),
    st.sampled_from(["true", "false"]),
)
def test_tasks_share_neither_a_file_nor_an_index_file_and_each_has_something_to_do(
    shapes: list[tuple[int, str, int]], min_file_count: int, vectors: str
) -> None:
    options = {"target-file-size": "100 b", "compaction.min.file-num": str(min_file_count)}
    options["deletion-vectors.enabled"] = vectors
    policy = policy_of(options)
    files = [data_file(f"f{place}", size=size) for place, (size, _, _) in enumerate(shapes)]
    deleted = {
        f"f{place}": DeletedRows(index_file=index, row_count=count)
        for place, (_, index, count) in enumerate(shapes)
        if index != "-" and vectors == "true"
    }
    picks = policy.pack(files, deleted=deleted)
    names = [file.file_name for pick in picks for file in pick.files]
    assert len(names) == len(set(names))
    owners: dict[str, int] = {}
    for number, pick in enumerate(picks):
        marked = [file.file_name for file in pick.files if file.file_name in deleted]
        assert marked or len(pick.files) > 1
        for name in marked:
            assert owners.setdefault(deleted[name].index_file, number) == number
    for file in files:
        rows = deleted.get(file.file_name)
        is_marked = rows is not None and (rows.row_count or 0) > 20
        if file.file_size >= 70 and not is_marked:
            assert file.file_name not in names, "large files with few deleted rows are left alone"
        elif rows is not None:
            assert file.file_name in names, "deleted rows do not wait for more files"
