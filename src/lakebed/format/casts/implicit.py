"""Which types hold every value of another? The implicit casts of features.md 9.

Lengths and precisions do not count: a DECIMAL takes any number, a VARCHAR any CHAR.
"""

from collections.abc import Mapping

from lakebed.format.types import TypeRoot

_WHOLE = (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT)
_NUMBERS = (*_WHOLE, TypeRoot.FLOAT, TypeRoot.DOUBLE, TypeRoot.DECIMAL)
_SOURCES: Mapping[TypeRoot, tuple[TypeRoot, ...]] = {
    TypeRoot.SMALLINT: _WHOLE[:1],
    TypeRoot.INT: _WHOLE[:2],
    TypeRoot.BIGINT: _WHOLE[:3],
    TypeRoot.FLOAT: (*_WHOLE, TypeRoot.DECIMAL),
    TypeRoot.DOUBLE: _NUMBERS,
    TypeRoot.DECIMAL: _NUMBERS,
    TypeRoot.VARCHAR: (TypeRoot.CHAR,),
    TypeRoot.VARBINARY: (TypeRoot.BINARY,),
    TypeRoot.DATE: (TypeRoot.TIMESTAMP,),
    TypeRoot.TIME: (TypeRoot.TIMESTAMP,),
    TypeRoot.TIMESTAMP: (TypeRoot.TIMESTAMP_LTZ,),
    TypeRoot.TIMESTAMP_LTZ: (TypeRoot.TIMESTAMP,),
}


def is_implicit(source: TypeRoot, target: TypeRoot) -> bool:
    """Whether values of one root become values of another without being asked to."""
    return source is target or source in _SOURCES.get(target, ())
