"""Arrays in byte planes are the same arrays, of any type and size."""

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rerank_plugins.core.errors import ModelError
from rerank_plugins.core.files import add_checksums, checked
from rerank_plugins.kit.files.model_file import from_planes, read_model, to_planes, write_model

RECORD = np.dtype([("symbol", "<i4"), ("log10", "<f4"), ("next", "<u2")])
NESTED = np.dtype([("pair", "<i4", (2,)), ("weight", "<f8")])
TYPES = ["<i8", "<i4", "<u2", "|u1", "|b1", "<f4", "<f8", RECORD, NESTED]


@given(st.sampled_from(TYPES).flatmap(lambda kind: arrays.arrays(np.dtype(kind), st.integers(0, 40))))
def test_the_bytes_come_back(array):
    planes, differences = to_planes(array)
    assert planes.dtype == np.uint8
    assert len(planes) == array.nbytes
    assert from_planes(planes, array.dtype, differences).tobytes() == array.tobytes()


def test_rising_numbers_become_differences_and_extremes_return():
    rising = np.arange(0, 3_000_000, 3000, dtype=np.int32)
    assert to_planes(rising)[1] == [True]
    extremes = np.array([2**31 - 1, -(2**31), 0] * 300, np.int32)
    planes, _ = to_planes(extremes)
    np.testing.assert_array_equal(from_planes(planes, extremes.dtype, to_planes(extremes)[1]), extremes)
    changed = np.diff(extremes, prepend=np.int32(0)).view(np.uint8).reshape(-1, 4).T.reshape(-1)
    np.testing.assert_array_equal(from_planes(changed, extremes.dtype, [True]), extremes)


def test_a_compressed_file_holds_the_same_model_in_fewer_bytes(tmp_path):
    rng = np.random.default_rng(1)
    records = np.zeros(5000, RECORD)
    records["symbol"], records["log10"] = np.sort(rng.integers(0, 1000, 5000)), rng.integers(-400, 0, 5000) / 64
    stored = {"records": records, "table": rng.integers(0, 9, (20, 30)), "empty": np.zeros(0, np.float32)}
    plain, small = tmp_path / "plain", tmp_path / "small"
    write_model(plain, "kind", {"order": 3}, stored)
    assert write_model(small, "kind", {"order": 3}, stored, compressed=True) < plain.stat().st_size / 4
    settings, loaded = read_model(small, "kind")
    assert settings == {"order": 3}
    for name, array in stored.items():
        assert loaded[name].dtype == array.dtype
        np.testing.assert_array_equal(loaded[name], array)
    assert loaded["records"].flags.writeable


def test_other_columns_than_those_of_the_type_are_damage(tmp_path):
    planes, differences = to_planes(np.zeros(4, RECORD))
    with pytest.raises(ValueError, match="zip"):
        from_planes(planes, RECORD, differences[:2])
    small = tmp_path / "small"
    write_model(small, "kind", {}, {"records": np.zeros(4, RECORD)}, compressed=True)
    content = checked(np.fromfile(small, np.uint8))
    whole = zstandard.ZstdDecompressor().decompress(content.data)
    small.write_bytes(zstandard.ZstdCompressor().compress(whole.replace(b"[false, ", b"[       ")))
    add_checksums(small)
    with pytest.raises(ModelError, match=r"damaged model file: its header cannot be read \(zip"):
        read_model(small, "kind")
