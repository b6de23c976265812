"""How are orphan files found and deleted, and why is none deleted that anybody needs?

An orphan is a file that a writer of the format wrote and that no snapshot, tag, branch or changelog
names: of a commit that lost or died, of a tag whose deletion broke off. A cleaning has these steps:

1. candidates      listed, with their ages: older than some time, with names of the format's own
2. what is needed  read, of every branch; again, until nothing has come since the last look
3. the others      deleted

What is committed between 1 and 3 is either seen in 2, or names files that were not there in 1, or
that were too young. So a file is deleted wrongly only if its writer, between writing and committing
it, takes longer than the age that is asked for. Anything that cannot be read in 2 ends it with
nothing deleted. A crash in 3 leaves fewer orphans, which the next cleaning finds.

What an expiry that broke off has yet to delete is needed: the next expiry deletes it.
"""

import logging

import pyarrow as pa

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.typing import python_values
from lakebed.table.cleaning.candidates import Candidates, file_names, find_candidates
from lakebed.table.cleaning.needed import needed_among
from lakebed.table.parts import TableParts
from lakebed.table.reading.time_travel import epoch_ms
from lakebed.table.spreading import Spread

_log = logging.getLogger(__name__)

_DAY_MS = 24 * 60 * 60 * 1000


def remove_orphan_files(
    parts: TableParts, older_than_ms: int, *, dry_run: bool, spread: Spread
) -> pa.Table:
    """Deletes the files of a table that nobody needs.

    Args:
        parts: The table, or one of its branches; all branches are cleaned.
        older_than_ms: Epoch milliseconds; younger files stay.
        dry_run: Whether it is only said what would be deleted.
        spread: For many directories and files; what it calls can be pickled.

    Returns:
        The files, as `candidates.FILE_COLUMNS`.

    Raises:
        CorruptTableError: Something that may need files cannot be read; nothing was deleted.
        NotFoundError: It is gone; nothing was deleted.
        StorageError: The store failed; what is left, the next cleaning finds.
        UnsupportedError: It is of a newer version; nothing was deleted.
    """
    candidates = find_candidates(parts, older_than_ms, spread)
    orphans = pa.concat_tables([_unneeded(parts, candidates, spread), candidates.staged])
    if not dry_run:
        list(spread(parts.file_io.delete, sorted(python_values(orphans["path"]))))
        for directory in candidates.staging:
            parts.file_io.delete_directory(directory)
        _log.info("%s: deleted %d orphan files", parts.paths.location, orphans.num_rows)
    return orphans


def oldest_kept_ms(parts: TableParts, older_than: object) -> int:
    """From which time on files stay, as a user says it; a day ago by default.

    Raises:
        InvalidArgumentError: It is no time, or not past: files that are being written would go.
    """
    now = parts.session.effects.clock()
    if older_than is None:
        return now - _DAY_MS
    since = epoch_ms(older_than, parts.session.time_zone, name="older_than")
    if since >= now:
        raise InvalidArgumentError(
            f"older_than is {older_than!r}, which is not past: files that are being written now, "
            "and that no snapshot names yet, would be deleted. Give a time before any write began "
            "that still runs"
        )
    return since


def _unneeded(parts: TableParts, candidates: Candidates, spread: Spread) -> pa.Table:
    files = candidates.files
    if not files.num_rows:
        return files
    return files.filter(pa.array(~needed_among(parts, file_names(files), spread)))
