"""What can be asked from a shell?

lakebed streams s3://bucket/lake/shop.db/orders -o s3.endpoint=http://127.0.0.1:9000
lakebed streams shop.orders --warehouse s3://bucket/lake --format prometheus
"""

import dataclasses
import json
from collections.abc import Sequence
from datetime import UTC, datetime

import click
from rich.console import Console
from rich.table import Table as Grid

from lakebed.catalog.loading import load_catalog, load_table
from lakebed.errors import LakebedError
from lakebed.table.streaming.table_streams import TableStream, prometheus
from lakebed.table.table import Table
from lakebed.version import VERSION

# Enough for a commit user; where output is no terminal, rich takes 80 columns.
_WIDTH_OF_FILES = 160


@click.group()
@click.version_option(VERSION)
def main() -> None:
    """Paimon tables, from a shell."""


@main.command()
@click.argument("table")
@click.option("--warehouse", help="The warehouse of TABLE; without it TABLE is a path or a URI.")
@click.option(
    "options",
    *("-o", "--option"),
    metavar="KEY=VALUE",
    multiple=True,
    help="An option of the catalog or of the store; may be given several times.",
)
@click.option(
    "form",
    "--format",
    type=click.Choice(["table", "json", "prometheus"]),
    default="table",
    show_default=True,
    help="What is printed.",
)
def streams(*, table: str, warehouse: str | None, options: Sequence[str], form: str) -> None:
    """Who streams out of TABLE and into it, how far each is, and how fast.

    Streams out of it are its consumers, streams into it those whose commits are numbered.
    """
    try:
        loaded = _load(table, warehouse, _pairs(options))
        found = loaded.streams()
    except LakebedError as error:
        raise click.ClickException(str(error)) from error
    if form == "prometheus":
        click.echo(prometheus(found, loaded.name), nl=False)
    elif form == "json":
        click.echo(json.dumps([dataclasses.asdict(each) for each in found], indent=2))
    else:
        _print(found, loaded.name)


def _load(table: str, warehouse: str | None, options: dict[str, str]) -> Table:
    if warehouse is None:
        return load_table(table, options)
    return load_catalog(options, warehouse=warehouse).load_table(table)


def _pairs(options: Sequence[str]) -> dict[str, str]:
    pairs = [each.partition("=") for each in options]
    for key, sign, _ in pairs:
        if not key or not sign:
            raise click.BadParameter(f"{key!r} is no KEY=VALUE", param_hint="-o")
    return {key: value for key, _, value in pairs}


def _print(found: Sequence[TableStream], name: str) -> None:
    if not found:
        click.echo(f"{name} has no consumers, and no commits of streams among its newest snapshots")
        return
    grid = Grid(title=name, box=None, title_justify="left")
    for heading in ("", "stream", "snapshot", "behind", "commit", "last", "rows/s"):
        is_text = heading in {"", "stream", "last"}
        grid.add_column(heading, justify="left" if is_text else "right", no_wrap=True)
    for each in found:
        last = datetime.fromtimestamp(each.time_millis / 1000, UTC)
        grid.add_row(
            each.direction,
            each.name,
            str(each.snapshot_id),
            str(each.snapshots_behind),
            "" if each.identifier is None else str(each.identifier),
            f"{last:%Y-%m-%d %H:%M:%S} UTC",
            "" if each.rows_per_second is None else f"{each.rows_per_second:,.0f}",
        )
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH_OF_FILES)
    console.print(grid)
