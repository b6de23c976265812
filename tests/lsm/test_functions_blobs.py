"""Bitmaps and sketches: inputs and unions are bytes that the real engine's libraries wrote."""

import pyarrow as pa
import pytest
from pyroaring import BitMap

from lakebed.errors import InvalidDataError, InvalidTableError, UnsupportedError
from lakebed.format.type_text import parse_type
from lakebed.format.types import DataField
from lakebed.lsm.functions import sketches
from lakebed.lsm.functions.groups import Aggregate, FieldOptions
from lakebed.lsm.functions.registry import COMPOSITE_FUNCTIONS
from support.folds import Row, folded

NAMES = ("rbm32", "rbm64", "hll_sketch", "theta_sketch")
UNIONS = [
    (
        "rbm32",
        (
            "3a300000010000000000020010000000010002000300 3a300000010000000100000010000000a086"
            " 3b3000000100000500010003000500"
        ),
        "3b300100010000070001000000010001000700a086",
    ),
    (
        "rbm64",
        (
            "010300000000000000000200000000ff00000200010000000100040000000000000000000000000000"
            "00000004000000000001000000010000000000000004000000ffffffffffff02000000000000000100"
            "0000fe0300000001020100000005000102010000000000010201000000f9ff03000000000000000000"
            "000002000000 00 010300000000000000000200010000000400000200000000010004000000000000"
            "0000000000000000000000040000000000010000000100000000000000040000000004000000000200"
            "00000000000001000000fe030000000102010000000600010201000000000001020100000000000300"
            "0000000000000000000002000000"
        ),
        (
            "010400000000000000000200000000ff00000200000000040000020000000001000400000000000000"
            "0000000000000000000004000000000001000000010000000000000004000000000400000000030000"
            "000000000004000000ffffffffffff020000000000000001000000fe04000000010202000000050006"
            "000102010000000000010201000000f9ff010201000000000004000000000000000000000003000000"
        ),
    ),
    (
        "hll_sketch",
        (
            "0201070c030802002bf2fb06862ff90d 0201070c03080200862ff90d75816607"
            " 0201070c0308010081bc5d06"
        ),
        "0201070c0308040081bc5d06862ff90d758166072bf2fb06",
    ),
    ("theta_sketch", "01030300001e0000 01030300001e0000", "01030300001e0000"),
    (
        "theta_sketch",
        "01030300003acc9315f97dcbbd86a105 01030300003acc9315f97dcbbd86a105",
        "01030300003acc9315f97dcbbd86a105",
    ),
    (
        "theta_sketch",
        (
            "02030300001acc93020000000000803f15f97dcbbd86a105c397fc1281709d1e"
            " 02030300001acc93020000000000803fc397fc1281709d1eba40b3c1da06695d"
            " 01030300003acc9340de2ee1c9db3d08"
        ),
        (
            "02030300001acc93040000000000803f15f97dcbbd86a10540de2ee1c9db3d08c397fc1281709d1eba40"
            "b3c1da06695d"
        ),
    ),
]


def made(name: str, kind: str = "BYTES") -> Aggregate:
    field = DataField(id=0, name="c", type=parse_type(kind))
    return COMPOSITE_FUNCTIONS[name].make(field, FieldOptions())


@pytest.mark.parametrize(("name", "inputs", "union"), UNIONS)
def test_union_has_the_bytes_of_the_real_engine_s(name: str, inputs: str, union: str) -> None:
    values = [bytes.fromhex(value) for value in inputs.split()]
    lone, several = values[0], [None, *values, None]
    segments: list[list[Row]] = [
        [(lone, False)],
        [(value, False) for value in several],
        [(None, False)],
        [(None, False), (lone, False)],
    ]
    results = folded(made(name), segments, pa.binary())
    assert results == [lone, bytes.fromhex(union), None, lone]


def test_a_union_of_many_bitmaps_holds_the_numbers_of_all() -> None:
    parts = [BitMap(range(start, 70_000, 7)) for start in range(5)]
    rows: list[Row] = [(part.serialize(), False) for part in parts]
    (united,) = folded(made("rbm32"), [rows], pa.binary())
    assert isinstance(united, bytes)
    assert BitMap.deserialize(united) == BitMap.union(*parts)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("junk", [b"", b"\x01", b"x" * 40])
def test_bytes_that_are_no_such_value_are_refused(name: str, junk: bytes) -> None:
    with pytest.raises(InvalidDataError, match=f"'c': {name} cannot merge a value"):
        folded(made(name), [[(junk, False), (junk, False)]], pa.binary())


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_varbinary_is_refused(name: str) -> None:
    with pytest.raises(InvalidTableError, match=f"'c': {name} takes VARBINARY, not STRING"):
        made(name, "STRING")


def test_sketches_without_their_library_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sketches, "_LIBRARY", "no_such_library")
    with pytest.raises(UnsupportedError, match=r"'c'.*lakebed\[sketches\]"):
        made("hll_sketch")
