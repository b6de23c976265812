"""May a decoder be trusted with the lengths in an ORC stripe?

Text, bytes, lists and maps keep their lengths in a stream of their own, which no checksum guards.
The decoder believes them: of a negative one it reads outside of its memory, and of a huge one it
takes more memory than there is; either ends the process. So lengths are decoded here first. They
are few bytes, and of text in a dictionary there is one a distinct value.
"""

from collections.abc import Collection

import pyarrow as pa

from lakebed.errors import CorruptTableError, UnsupportedError
from lakebed.format.orc.run_lengths import extent_of_unsigned
from lakebed.format.orc.tail import (
    LISTS,
    TEXTS,
    UNPACKABLE,
    OrcTail,
    StreamKind,
    Stripe,
    StripeFooter,
    read_stream,
    read_stripe_footer,
    unpacked_bytes_max,
)

__all__ = ["check_lengths"]

_DIRECT_V2, _DICTIONARY_V2 = 2, 3
# What a byte stands for where values are the most alike: a run of 130 bytes takes two, and such a
# byte is eight flags.
_VALUES_A_BYTE_MAX = 520
# The decoder finds lengths that are too great, having taken the memory; this much more is no harm.
_LOOSE_FACTOR, _LOOSE_BYTES = 4, 64 << 20


def check_lengths(
    source: pa.NativeFile, tail: OrcTail, stripe: Stripe, *, names: Collection[str]
) -> None:
    """Checks the lengths in some columns of a stripe.

    Columns of a codec that cannot be unpacked here, LZO and Brotli, are left to the decoder.

    Raises:
        CorruptTableError: One is negative, or they are more than there are values.
        UnsupportedError: They are encoded as by ORC 0.11.
    """
    if tail.compression not in UNPACKABLE:
        return
    check = _Check(source, tail, read_stripe_footer(source, tail, stripe))
    root = tail.types[0]
    for name, column in zip(root.names, root.children, strict=False):
        if name in names:
            check.column(column)


class _Check:
    """The lengths of one stripe."""

    def __init__(self, source: pa.NativeFile, tail: OrcTail, footer: StripeFooter) -> None:
        self._source = source
        self._tail = tail
        self._footer = footer

    def column(self, column: int) -> None:
        """Checks a column and those inside of it."""
        kind = self._tail.types[column]
        if kind.kind in TEXTS:
            self._text(column)
        elif kind.kind in LISTS:
            inside = range(column + 1, self._end(column))
            held = sum(self._size(each) for each in self._footer.streams if each[0] in inside)
            self._checked(column, held=_VALUES_A_BYTE_MAX * held)
        for child in kind.children:
            # Columns are numbered from the outside to the inside.
            if not column < child < len(self._tail.types):
                raise self._corrupt(column, f"has column {child} inside of it")
            self.column(child)

    def _text(self, column: int) -> None:
        if self._encoding(column) != _DICTIONARY_V2:
            self._checked(column, held=self._size((column, StreamKind.DATA)))
            return
        count = self._checked(column, held=self._size((column, StreamKind.DICTIONARY_DATA)))
        size = self._footer.dictionary_sizes[column]
        if size != count:
            raise self._corrupt(column, f"has {count} lengths for {size} texts")

    def _checked(self, column: int, *, held: int) -> int:
        """The number of the lengths of a column that can hold so many bytes or values."""
        if self._encoding(column) not in {_DIRECT_V2, _DICTIONARY_V2}:
            raise UnsupportedError(
                f"{self._tail.path}: column {column} has the encoding of ORC 0.11, which cannot be "
                "read; rewrite the file"
            )
        span = self._footer.streams.get((column, StreamKind.LENGTH), (0, 0))
        stream, path = read_stream(self._source, self._tail, span), self._tail.path
        extent = extent_of_unsigned(stream, path, exactly=False)
        if extent.total > _LOOSE_FACTOR * held + _LOOSE_BYTES:
            extent = extent_of_unsigned(stream, path, exactly=True)
            if extent.total > held:
                raise self._corrupt(column, f"has lengths for more than the {held} it can hold")
        if extent.least < 0:
            raise self._corrupt(column, f"has a length of {extent.least}")
        return extent.count

    def _size(self, stream: tuple[int, int]) -> int:
        span = self._footer.streams.get(stream, (0, 0))
        return unpacked_bytes_max(self._source, self._tail, span)

    def _encoding(self, column: int) -> int:
        if column >= len(self._footer.encodings):
            raise self._corrupt(column, "has no encoding")
        return self._footer.encodings[column]

    def _end(self, column: int) -> int:
        """The first column behind those inside of one."""
        children = self._tail.types[column].children
        return self._end(children[-1]) if children and children[-1] > column else column + 1

    def _corrupt(self, column: int, problem: str) -> CorruptTableError:
        return CorruptTableError(self._tail.path, f"its ORC column {column} {problem}")
