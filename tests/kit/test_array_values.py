"""What the values of stored arrays may be, and how a message names the first one that is wrong."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rerank_plugins.kit.files.array_values import RANGES, ContentsError, check_range, check_values, extremes

NAN, INF = float("nan"), float("inf")
LEGAL = {
    "any": (NAN, INF, -INF, -1.0, 0.0, 2.0),
    "finite": (-1.0, 0.0, 2.0),
    "not negative": (0.0, -0.0, 2.0),
    "positive": (0.5, 2.0),
    "probabilities": (0.0, -0.0, 0.5, 1.0),
    "logarithms": (-INF, -1.0, 0.0, 2.0),
    "ln p": (-INF, -1.0, 0.0),
    "finite ln p": (-1.0, 0.0),
}
VALUES = (NAN, -NAN, INF, -INF, -1.0, 0.0, -0.0, 0.5, 1.0, 2.0)


def test_every_kind_is_tested():
    assert LEGAL.keys() == {"any", *RANGES}


@pytest.mark.parametrize("kind", LEGAL)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_each_kind_accepts_its_values_alone(kind, dtype):
    legal = LEGAL[kind]
    check_values("x", np.array(legal, dtype), kind)
    least, most = (RANGES[kind].least, RANGES[kind].most) if kind in RANGES else (-INF, INF)
    for value in VALUES:
        array = np.full((2, 3), legal[-1], dtype)
        array[1, 2] = value
        if kind == "any" or least <= value <= most:
            check_values("x", array, kind)
        else:
            with pytest.raises(ContentsError, match=f"^x has {value:g} at 1, 2, wanted {RANGES[kind].wanted}$"):
                check_values("x", array, kind)


def test_integers_have_kinds_as_well():
    check_values("n", np.array([0, 3]), "not negative")
    check_values("n", np.zeros(0, np.int64), "positive")
    with pytest.raises(ContentsError, match="n has 0 at 1, wanted a finite number above 0"):
        check_values("n", np.array([3, 0], np.uint8), "positive")


def test_the_largest_number_of_a_type_is_finite_and_the_next_is_not():
    for dtype in (np.float16, np.float32, np.float64):
        check_values("x", np.array([np.finfo(dtype).max, np.finfo(dtype).min], dtype), "finite")
    with pytest.raises(ContentsError, match="x has inf at 0"):
        check_values("x", np.array([INF], np.float16), "finite")


@given(arrays.arrays(np.float16, st.integers(1, 5), elements=st.floats(width=16)))
def test_the_extremes_of_numbers_of_half_precision(array):
    wanted = array.astype(np.float64)
    found = extremes(array)
    if np.isnan(wanted).any():
        assert np.isnan(found).any()
    else:
        assert found == (wanted.min(), wanted.max())


def test_numbers_out_of_range():
    check_range("n", np.array([2, 4]), 2, 4)
    check_range("n", np.zeros(0, np.int32), 2, 1)
    with pytest.raises(ContentsError, match="n has an index out of range: 5 at 1, wanted 2 to 4"):
        check_range("n", np.array([2, 5]), 2, 4)
    with pytest.raises(ContentsError, match="n has an index out of range: 1 at 0, 0, wanted 2 to 4"):
        check_range("n", np.array([[1, 2]]), 2, 4)
