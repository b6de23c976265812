"""Which methods of PySpark's classes does Lakebed stand in front of?

Every replacement asks first whether the session has attached catalogs and whether the call is about
them, and else calls the method that was there. Classes are those of the session at hand, so classic
Spark and Spark Connect are patched each when one of their sessions first attaches; all is undone
when no session has catalogs any more.
"""

import sys
from functools import wraps

from pyspark.sql import SparkSession

from lakebed.spark.frame_patches import FRAME, READER, WRITER, WRITER_V2
from lakebed.spark.session_patches import CATALOG, SESSION, Patch
from lakebed.spark.stream_patches import (
    STREAM_FRAME,
    STREAM_READER,
    STREAM_SESSION,
    STREAM_WRITER,
)

_originals: dict[tuple[type, str], tuple[object, object]] = {}


def install(spark: SparkSession) -> None:
    """Patches the classes that this session's objects are of, once."""
    frame = spark.range(0)
    for owner, patches in (
        (type(spark), {**SESSION, **STREAM_SESSION}),
        (type(spark.read), READER),
        (type(frame), {**FRAME, **STREAM_FRAME}),
        (type(frame.write), WRITER),
        (type(frame.writeTo("lakebed")), WRITER_V2),
        (type(spark.catalog), CATALOG),
        (type(spark.readStream), STREAM_READER),
        (_stream_writer(spark), STREAM_WRITER),
    ):
        for name, patch in patches.items():
            _replace(owner, name, patch)


def _stream_writer(spark: SparkSession) -> type:
    """The class of this session's stream writers, of which only a stream could give one."""
    kind: type = sys.modules[type(spark.readStream).__module__].DataStreamWriter
    return kind


def uninstall() -> None:
    """Puts every method back that is still ours."""
    for (owner, name), (original, replacement) in _originals.items():
        if vars(owner).get(name) is replacement:
            setattr(owner, name, original)
    _originals.clear()


def _replace(owner: type, name: str, patch: Patch) -> None:
    if (owner, name) in _originals:
        return
    original = vars(owner)[name]
    if isinstance(original, property):
        getter = original.fget
        if getter is None:
            return
        replacement: object = property(wraps(getter)(patch(getter)), doc=original.__doc__)
    else:
        replacement = wraps(original)(patch(original))
    _originals[owner, name] = (original, replacement)
    setattr(owner, name, replacement)
