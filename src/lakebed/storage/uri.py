"""How is the place of a table or file spelled?

    /data/lake   data/lake   file:/data/lake   file:///data/lake   memory:/lake

The surprising thing: nothing is ever URL-decoded. Partition directories carry percent signs in
their names (`p=a%2Fb`), so `%` is a letter like any other, as are `?` and `#`.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from lakebed.errors import InvalidArgumentError, UnsupportedError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
_SLASHES = re.compile(r"/{2,}")
_SUPPORTED = ("file", "memory")


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A parsed place.

    Attributes:
        scheme: `file` or `memory`.
        path: The absolute path within the store, without a slash at its end.
        text: The spelling that was given, less slashes at its end; a relative path made absolute.
    """

    scheme: str
    path: str
    text: str


def parse_location(text: str) -> Location:
    """Takes a spelling apart.

    Raises:
        UnsupportedError: The scheme is of a store that Lakebed does not speak to.
        InvalidArgumentError: The text is no location.
    """
    if not text.strip() or "\0" in text:
        raise InvalidArgumentError(
            f"{text!r} is no location; give a path, or a URI such as file:///data/lake"
        )
    match = _SCHEME.fullmatch(text)
    if match is None:
        absolute = text if text.startswith("/") else f"{Path.cwd()}/{Path(text)}"
        return Location(scheme="file", path=_tidy(absolute), text=_trimmed(absolute))
    scheme, rest = match[1].lower(), match[2]
    if scheme not in _SUPPORTED:
        raise UnsupportedError(
            f"{text!r}: no store for the scheme {scheme!r}; supported are "
            f"{', '.join(f'{name}:' for name in _SUPPORTED)} and plain local paths "
            "(a local name with a colon is written as an absolute path)"
        )
    if not rest.startswith("/") or re.match(r"//[^/]", rest):
        raise InvalidArgumentError(
            f"{text!r}: {scheme}: is followed by an absolute path and no host, "
            f"as in {scheme}:/data/lake or {scheme}:///data/lake"
        )
    return Location(scheme=scheme, path=_tidy(rest), text=_trimmed(text))


def join(base: str, *names: str) -> str:
    """A path below `base`, in the spelling of `base`."""
    return "/".join((base.rstrip("/"), *names))


def _tidy(path: str) -> str:
    return _SLASHES.sub("/", path).rstrip("/") or "/"


def _trimmed(text: str) -> str:
    """Less slashes at the end, unless the whole path is one."""
    trimmed = text.rstrip("/")
    return f"{trimmed}/" if not trimmed or trimmed.endswith(":") else trimmed
