"""Buckets as text says them: files that are not there, and what is told about them."""

import re
from collections.abc import Iterable, Mapping, Sequence

from lakebed.format.data_file_meta import EMPTY_STATS, DataFileMeta

HOUR_MS = 3_600_000
_RUN = re.compile(r"L(?P<level>\d+) (?P<sizes>\d+(\+\d+)*)( made at (?P<hour>\d+) h)?")
_BAR_WIDTH = 24


def data_file(
    name: str,
    *,
    size: int,
    level: int = 0,
    sequence: int = 0,
    deletes: int | None = 0,
    row_count: int = 100,
    made_ms: int = 0,
) -> DataFileMeta:
    return DataFileMeta(
        file_name=name,
        file_size=size,
        row_count=row_count,
        min_key=b"",
        max_key=b"",
        key_stats=EMPTY_STATS,
        value_stats=EMPTY_STATS,
        min_sequence_number=sequence,
        max_sequence_number=sequence,
        schema_id=0,
        level=level,
        delete_row_count=deletes,
        creation_time=made_ms,
    )


def told_options(told: Iterable[str]) -> dict[str, str]:
    """The lines `key = value`."""
    pairs = (line.split(" = ") for line in told if " = " in line)
    return dict(pairs)


def told_files(told: Iterable[str]) -> list[DataFileMeta]:
    """The lines of runs, the newest first: `L3 60+40 made at 2 h`."""
    files: list[DataFileMeta] = []
    for line in told:
        if " = " in line:
            continue
        found = _RUN.fullmatch(line)
        assert found is not None, line
        made_ms = int(found["hour"] or 0) * HOUR_MS
        for size in map(int, found["sizes"].split("+")):
            name = f"f{len(files) + 1}"
            level = int(found["level"])
            files.append(
                data_file(name, size=size, level=level, sequence=-len(files), made_ms=made_ms)
            )
    return files


def draw_runs(
    runs: Sequence[tuple[int, Sequence[DataFileMeta]]], picked: Iterable[DataFileMeta]
) -> list[str]:
    """A line a run: level, bar of its size, sizes of its files, and whether it was picked."""
    names = {file.file_name for file in picked}
    largest = max((sum(file.file_size for file in files) for _, files in runs), default=0)
    lines = []
    for level, files in runs:
        size = sum(file.file_size for file in files)
        bar = "=" * max(1, round(_BAR_WIDTH * size / max(largest, 1)))
        sizes = "+".join(str(file.file_size) for file in files)
        taken = [file.file_name for file in files if file.file_name in names]
        mark = "" if not taken else "  *" if len(taken) == len(files) else f"  * {' '.join(taken)}"
        lines.append(f"L{level}  {bar:<{_BAR_WIDTH}} {sizes:>6}{mark}")
    return lines


def names_of(options: Mapping[str, str], key: str) -> tuple[str, ...]:
    """Names of files that a pseudo-option names: `marked = f1 f2`."""
    return tuple(options.get(key, "").split())
