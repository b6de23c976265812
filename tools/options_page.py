"""Writes docs/options.md from the catalogues of options; a test holds the page to them."""

from collections.abc import Iterable
from pathlib import Path

from lakebed.options.catalogue import CATALOG_OPTIONS, SESSION_OPTIONS, TABLE_OPTIONS
from lakebed.options.option import Option, Standing

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "options.md"

INTRODUCTION = """# Options

Written by `tools/options_page.py` from the catalogues in `lakebed.options`. Lakebed rejects what it
does not act on; it ignores nothing. The classes:

- **acts**: Lakebed does what the option says; with a list, for these values only. Where a use
  stands behind the list, the other values are refused for that use, and acted on for any other.
- **tuning**: speed or memory of some engine. Kept; it changes neither rows nor files.
- **refused**: not supported yet. Where a use stands beside it, a table of another engine that has
  the option is refused for that use; without one it is kept there, being that engine's business.
  *write* alone means that such a table is read as the option asks, and only not written.
  A Lakebed user cannot set it, but to the default. With **write-only**, it may be set together with
  `write-only=true`, which leaves the work to another job.

Options marked *fixed* cannot be changed after a table is made, those marked *scan* can be given to
a single scan or stream, those marked *stream* to a stream. Sizes are written `128 mb`, durations
`10 s`. A key in parentheses is an older name or another spelling, which is understood too.
"""

SECTIONS = (
    ("Options of a table", TABLE_OPTIONS),
    ("Options of a session", SESSION_OPTIONS),
    ("Options of a catalog", CATALOG_OPTIONS),
)


def render() -> str:
    """The page's text."""
    parts = [INTRODUCTION]
    parts += [f"## {title}\n\n{table(catalogue)}" for title, catalogue in SECTIONS]
    return "\n".join(parts)


def table(options: Iterable[Option]) -> str:
    """A Markdown table of options."""
    lines = ["| option | type | default | class | meaning |", "|---|---|---|---|---|"]
    for each in options:
        old = f" ({', '.join(f'`{key}`' for key in each.old_keys)})" if each.old_keys else ""
        default = "" if each.default is None else f"`{each.default}`"
        marks = [
            ("*fixed*", each.immutable),
            ("*scan*", each.for_scan),
            ("*stream*", each.for_stream),
        ]
        meaning = ", ".join([each.meaning, *(mark for mark, is_set in marks if is_set)])
        cells = (f"`{each.key}`{old}", each.value_type.name, default, standing(each), meaning)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def standing(option: Option) -> str:
    """An option's class in a few words."""
    uses = ", ".join(sorted(use.value for use in option.changes))
    if option.standing is Standing.REFUSED:
        others = ", write-only" if option.left_to_others else ""
        return f"refused: {uses}" if uses else f"refused{others}"
    text: str = option.standing.value
    if option.accepted is not None:
        text = f"{text}: {', '.join(option.accepted)}"
    else:
        return text
    return f"{text}; else refused: {uses}" if uses else text


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
