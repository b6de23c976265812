import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.errors import InvalidTableError
from lakebed.format.type_text import parse_type
from lakebed.format.types import DataField
from lakebed.lsm.functions.groups import Aggregate, FieldOptions
from lakebed.lsm.functions.registry import COMPOSITE_FUNCTIONS
from support import folds
from support.folds import Row, folded

PIECES = ["", " ", "a", "b", ",", "|", "||", "é", "\u2003"]
texts = st.none() | st.lists(st.sampled_from(PIECES), max_size=5).map("".join)
segments_of_texts = st.lists(
    st.lists(st.tuples(texts, st.just(value=False)), min_size=1, max_size=5), max_size=4
)


def listagg(options: FieldOptions, kind: str = "STRING") -> Aggregate:
    field = DataField(id=0, name="c", type=parse_type(kind))
    return COMPOSITE_FUNCTIONS["listagg"].make(field, options)


@settings(max_examples=200)
@given(
    delimiter=st.sampled_from([",", "||", "", ", "]),
    segments=segments_of_texts,
    distinct=st.booleans(),
)
def test_listagg_is_the_fold(delimiter: str, segments: list[list[Row]], *, distinct: bool) -> None:
    options = FieldOptions(delimiter=delimiter, distinct=distinct)
    add = folds.listagg(delimiter, distinct=distinct)
    results = folded(listagg(options), segments, pa.string())
    assert results == [folds.fold(rows, add) for rows in segments]


def test_distinct_keeps_the_oldest_text_whole_and_new_tokens_of_later_ones() -> None:
    rows: list[Row] = [(text, False) for text in ("b,a,b", "a,c,c", " ", "c,d")]
    assert folded(listagg(FieldOptions(distinct=True)), [rows], pa.string()) == ["b,a,b,c,d"]


def test_a_no_break_space_is_a_text_and_a_separator_is_blank() -> None:
    rows: list[Row] = [("\x1c", False), ("\u00a0", False), ("\u2028\t", False), ("x", False)]
    assert folded(listagg(FieldOptions()), [rows], pa.string()) == ["\u00a0,x"]


@pytest.mark.parametrize("kind", ["INT", "VARCHAR(10)", "CHAR(3)", "BYTES"])
def test_what_is_no_string_is_refused(kind: str) -> None:
    with pytest.raises(InvalidTableError, match=r"'c': listagg takes a STRING, not "):
        listagg(FieldOptions(), kind)
