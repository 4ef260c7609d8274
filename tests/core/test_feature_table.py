"""The feature table: scores, selection, and a file that is an identity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_plugins import FeatureTable, FormatError, SparseBlock
from rerank_plugins.core import feature_table
from tests.model_files import check_damage_is_seen

mappings = st.lists(
    st.dictionaries(st.sampled_from(["a_1", "b_2", "ü_3", "d_4"]), st.floats(-9, 9), max_size=4), min_size=1, max_size=9
)


def table(rows: int = 7) -> FeatureTable:
    rng = np.random.default_rng(0)
    sparse = SparseBlock.from_mappings([{"x_1": 1.0 * row, "y_2": -1.0} if row % 2 else {} for row in range(rows)])
    values = rng.normal(size=(rows, 3))
    return FeatureTable(("LM0", "d_0", "d_1"), values, np.array([0, 3, 3, rows]), ("4", "x", "9"), sparse, {"seed": 1})


@given(mappings)
def test_sparse_dot_is_the_sum_over_names(rows):
    block = SparseBlock.from_mappings(rows)
    weights = np.arange(1.0, len(block.names) + 1)
    of = dict(zip(block.names, weights, strict=True))
    wanted = [sum(of[name] * value for name, value in row.items()) for row in rows]
    np.testing.assert_allclose(block.dot(weights), wanted, atol=1e-12)


@given(mappings, st.lists(st.sampled_from(["a_1", "b_2", "ü_3", "zz"]), unique=True))
def test_renamed_keeps_the_values_of_the_names_that_stay(rows, names):
    block = SparseBlock.from_mappings(rows).renamed(names)
    again = SparseBlock.from_mappings([{n: v for n, v in row.items() if n in names} for row in rows])
    weights = np.arange(1.0, len(names) + 1)
    of = dict(zip(names, weights, strict=True))
    np.testing.assert_allclose(block.dot(weights), again.dot(np.array([of[n] for n in again.names])), atol=1e-12)


def test_scores_take_dense_then_sparse_weights():
    made = table()
    weights = np.array([1.0, 2.0, 3.0, 0.5, 4.0])
    wanted = made.values @ weights[:3] + np.array([0.5 * row - 4.0 if row % 2 else 0.0 for row in range(7)])
    np.testing.assert_allclose(made.scores(weights), wanted)
    assert made.all_names == ("LM0", "d_0", "d_1", "x_1", "y_2")


def test_take_segments_in_any_order():
    made = table()
    taken, rows = made.take_segments([2, 1, 0])
    assert rows.tolist() == [3, 4, 5, 6, 0, 1, 2]
    assert taken.offsets.tolist() == [0, 4, 4, 7]
    assert taken.segment_ids == ("9", "x", "4")
    weights = np.arange(5.0)
    np.testing.assert_array_equal(taken.scores(weights), made.scores(weights)[rows])


def test_save_and_load_are_identities_and_bytes_repeat(tmp_path):
    made = table()
    made.save(tmp_path / "a.npz")
    made.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    again = FeatureTable.load(tmp_path / "a.npz")
    np.testing.assert_array_equal(again.values, made.values)
    np.testing.assert_array_equal(again.offsets, made.offsets)
    np.testing.assert_array_equal(again.sparse.data, made.sparse.data)
    assert (again.names, again.segment_ids, again.provenance) == (made.names, made.segment_ids, made.provenance)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.npz", "b.npz"]


@pytest.mark.parametrize("keep", [0, 10, 300, -20])
def test_a_table_cut_short_is_named(tmp_path, keep):
    path = tmp_path / "cut.npz"
    table().save(path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(FormatError, match=r"cut\.npz: not a feature table, or cut short"):
        FeatureTable.load(path)


def test_damage_to_a_table_is_seen(tmp_path):
    path = tmp_path / "features.npz"
    table().save(path)
    check_damage_is_seen(path, FeatureTable.load, FormatError, flips=200)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("add_checksums", lambda path: None, "not a feature table, or cut short: it does not end in checksums"),
        ("VERSION", 99, "feature table of version 99, expected 2"),
    ],
)
def test_a_table_without_checksums_or_of_another_version_is_refused(tmp_path, monkeypatch, name, value, said):
    path = tmp_path / "features.npz"
    monkeypatch.setattr(feature_table, name, value)
    table().save(path)
    monkeypatch.undo()
    with pytest.raises(FormatError, match=said):
        FeatureTable.load(path)


def test_a_missing_table(tmp_path):
    with pytest.raises(FormatError, match="no such feature table"):
        FeatureTable.load(tmp_path / "none.npz")
