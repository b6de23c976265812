"""From the arguments of a scan to the table as it is read, and where its rows come from."""

from collections.abc import Callable, Mapping

from lakebed.options.acceptance import check_scan_options, normalize
from lakebed.options.values import OptionValue
from lakebed.table.fallback import with_other_branch
from lakebed.table.parts import TableParts
from lakebed.table.planning.visibility import Visibility
from lakebed.table.reading.scan_plan import ScanSource
from lakebed.table.reading.time_travel import find_scan_point


def open_scan(
    open_parts: Callable[[Mapping[str, str]], TableParts],
    arguments: Mapping[str, object],
    options: Mapping[str, OptionValue],
    *,
    visibility: Visibility = Visibility.BATCH,
) -> tuple[TableParts, ScanSource]:
    """The parts of a table, with the columns of the time that is read, and the rows' source.

    Args:
        open_parts: From the options of a scan to the table with them laid over its own.
        arguments: As for `time_travel.find_scan_point`.
        options: The scan's options as given.
        visibility: Which levels of a snapshot are seen.

    Raises:
        InvalidArgumentError: A bad option, two points in time, or a range that cannot be.
        NotFoundError: No such snapshot or tag.
        UnsupportedError: An option that Lakebed does not act on.
    """
    given = normalize(options)
    check_scan_options(given)
    parts = open_parts(given)
    chosen = find_scan_point(
        arguments, given, stored=parts.schema.options, time_zone=parts.session.time_zone
    )
    found = parts.history.find(chosen, visibility=visibility)
    if found.as_of is not None:
        parts = parts.as_of(found.as_of)
    return parts, with_other_branch(parts, found.source, chosen, visibility=visibility)
