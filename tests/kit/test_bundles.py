"""Bundles of arrays: kernels read and change the arrays themselves, and see the same fields as Python."""

import pickle
from typing import Any, NamedTuple

import numpy as np
import pytest

from rerank_plugins.kit.bundles import bundled
from rerank_plugins.kit.kernels import kernel


class Inner(NamedTuple):
    flags: Any
    bits: Any


class Outer(NamedTuple):
    row: Any
    table: Any
    number: int
    share: float
    inner: Any
    records: Any


PAIR = np.dtype([("key", np.int64), ("value", np.float64)])


def made():
    inner = Inner(np.array([False, True]), np.zeros(2, np.uint64))
    table = np.arange(6, dtype=np.int32).reshape(2, 3)
    return Outer(np.arange(5.0), table, -7, 2.5, inner, np.zeros(2, PAIR))


def summed(fields: Any, sums: Any) -> None:
    for i in range(len(fields.row)):
        sums[0] += fields.row[i]
    for i in range(fields.table.shape[0]):
        for j in range(fields.table.shape[1]):
            sums[1] += fields.table[i, j] * 10**j
    row = fields.table[1]
    row[2] += len(row)
    fields.row[np.uint8(2)] -= row.shape[0]
    sums[2] = fields.number + fields.share
    if fields.inner.flags[1] and not fields.inner.flags[0]:
        fields.inner.bits[1] = 9
    record = fields.records[1]
    record.key, record.value = 3, 0.5


@pytest.mark.parametrize("function", [summed, kernel(summed)])
def test_fields_in_python_and_in_kernels(function):
    fields, sums = made(), np.zeros(3)
    function(bundled(fields), sums)
    assert sums.tolist() == [10.0, 3 + 50 + 700, -4.5]
    assert fields.inner.bits.tolist() == [0, 9]
    assert (fields.table[1].tolist(), fields.row[2]) == ([3, 4, 8], -1.0)
    assert fields.records[1].item() == (3, 0.5)


def test_copies():
    """A copy, also in another process, has its own table; an array can be exchanged for one of another length."""
    bundle = bundled(made())
    for copy in (pickle.loads(pickle.dumps(bundle)), bundle._replace(row=np.arange(3.0))):
        sums, wanted = np.zeros(3), copy.row.sum()
        kernel(summed)(copy, sums)
        assert sums[0] == wanted
        assert [type(field) for field in copy][:4] == [np.ndarray, np.ndarray, int, float]


def test_arrays_are_contiguous():
    with pytest.raises(AssertionError, match="row"):
        bundled(made()._replace(row=np.arange(6.0)[::2]))
