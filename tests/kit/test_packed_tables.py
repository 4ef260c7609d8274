"""Packed tables of n-gram models: the same scores as those of the records, bit for bit; and quantised values."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from rerank_plugins.core.errors import ModelError
from rerank_plugins.kit.backoff.estimation import estimate
from rerank_plugins.kit.backoff.events import TextEvents
from rerank_plugins.kit.backoff.packed_tables import integers_for, read_bits, write_bits
from rerank_plugins.kit.backoff.scoring import matched_lengths, score_steps, score_text
from rerank_plugins.kit.backoff.smoothing import KneserNey, StupidBackoff
from rerank_plugins.kit.backoff.stores import codebook, nearest, pack, unpack
from rerank_plugins.kit.backoff.tables import table_arrays
from rerank_plugins.kit.files.model_file import write_model
from rerank_plugins.kit.workspace import Workspace
from rerank_plugins.ngram.model import KIND, NgramModel
from rerank_plugins.ngram.training import NgramSettings, train
from tests.kit.test_backoff import CUTS, ORDERS, OTHERS, SIZE, TEXTS, of_text, same, tokens_of

STUPID = (False, True)


@pytest.mark.parametrize("stupid", STUPID)
@given(TEXTS, OTHERS, ORDERS, CUTS)
@settings(max_examples=25)
def test_packing_loses_nothing(stupid, sentences, others, order, cut):
    smoothing = StupidBackoff() if stupid else KneserNey()
    tables = of_text(sentences, order, smoothing, cut).tables
    packed = pack(tables)
    packed.check("it")
    same(unpack(packed), tables)
    tokens = tokens_of([*others, *sentences])
    for left, right in zip(score_text(packed, tokens), score_text(tables, tokens), strict=True):
        assert left.tobytes() == right.tobytes()
    # Single steps, from every context.
    contexts = np.arange(len(tables.contexts) - 1)
    known = np.searchsorted(tables.context_levels, contexts, side="right") - 1
    for symbol in (0, 2, 3, 8):
        asked = contexts, np.minimum(known + 1, order - 1), np.full(len(contexts), symbol)
        for left, right in zip(score_steps(packed, *asked), score_steps(tables, *asked), strict=True):
            assert left.tobytes() == right.tobytes()


@given(TEXTS, ORDERS, CUTS)
@settings(max_examples=15)
def test_orders_packed_one_by_one_are_those_packed_together(sentences, order, cut):
    source = TextEvents(tokens_of(sentences), SIZE, order)
    one_by_one = estimate(source, prune=cut[:order], never=[1]).tables
    together = pack(of_text(sentences, order, None, cut).tables)
    for name, array in table_arrays(together).items():
        assert getattr(one_by_one, name).tobytes() == array.tobytes(), name


def test_a_large_model_is_packed_from_files(tmp_path, monkeypatch):
    monkeypatch.setattr("rerank_plugins.kit.workspace.ASIDE", 1 << 12)
    monkeypatch.setattr("rerank_plugins.kit.backoff.stores.STRETCH", 1 << 12)
    rng = np.random.default_rng(1)
    tokens = np.minimum(rng.zipf(1.3, 30_000) + 1, 5_000).astype(np.int32)
    tokens[-1] = 2
    tables = unpack(estimate(TextEvents(tokens, 5_001, 4), never=[1]).tables)
    workspace = Workspace(1 << 16, tmp_path)
    packed = estimate(TextEvents(tokens, 5_001, 4), never=[1], workspace=workspace).tables
    same(unpack(packed), tables)
    assert list(tmp_path.iterdir()) == []
    bytes_of = [sum(array.nbytes for array in arrays) for arrays in (
        table_arrays(packed).values(), [tables.contexts, tables.events])]  # fmt: skip
    assert bytes_of[0] < 0.6 * bytes_of[1]


def test_numbers_of_any_width():
    rng = np.random.default_rng(1)
    columns = [(width, rng.integers(0, 1 << width, 50, dtype=np.uint32)) for width in (1, 19, 32, 7, 0)]
    stride = sum(width for width, _ in columns)
    bits = np.zeros(integers_for(stride * 50), np.uint64)
    wanted = sum(
        int(number) << (row * stride + sum(width for width, _ in columns[:i]))
        for i, (_, numbers) in enumerate(columns)
        for row, number in enumerate(numbers)
    )
    at = 0
    for width, numbers in columns:
        write_bits(bits, at, stride, width, numbers)
        at += width
    assert int.from_bytes(bits.tobytes(), "little") == wanted
    at = 0
    for width, numbers in columns:
        assert [read_bits(bits, at + row * stride, width) for row in range(50)] == numbers.tolist()
        at += width


def test_codebooks_have_bins_of_equal_width_and_keep_special_values():
    values = np.array([-99, 0, -1, -1.1, -5, -5.3, -3, -100, -8], np.float32)
    book = codebook(values, 3)
    assert len(book) <= 8
    assert (np.diff(book) > 0).all()
    rounded = book[nearest(values, book)]
    assert rounded[[0, 1, 7]].tolist() == [-99, 0, -100]
    usual = np.delete(np.arange(9), [0, 1, 7])
    assert np.abs(rounded - values)[usual].max() <= (8 - 1) / 5 / 2 + 1e-6
    np.testing.assert_array_equal(codebook(values, 8)[nearest(values, codebook(values, 8))], values)


def test_quantised_models_are_smaller_and_nearly_the_same(tmp_path):
    rng = np.random.default_rng(1)
    lines = [" ".join(f"w{x}" for x in rng.zipf(1.5, 12)) for _ in range(2000)]
    exact, small = (train([("text", lines)], NgramSettings(3, quantise=bits)).ngrams for bits in (None, 8))
    assert small.save(tmp_path / "small") < 0.8 * exact.save(tmp_path / "exact")
    tokens = exact.vocabulary.encode([line.split() for line in lines])
    left, right = (score_text(model.stored, tokens) for model in (exact, NgramModel.load(tmp_path / "small")))
    np.testing.assert_array_equal(matched_lengths(exact.stored, left[1]), matched_lengths(small.stored, right[1]))
    assert np.abs(left[0] - right[0]).max() < 0.1
    assert abs(left[0].mean() - right[0].mean()) < 0.005


def test_files_of_records_can_still_be_read(tmp_path):
    exact = train([("text", ["a b c", "a b", "c"])], NgramSettings(3)).ngrams
    words = np.frombuffer("\n".join(exact.vocabulary.words).encode(), np.uint8)
    arrays = {**table_arrays(exact.tables), "words": words, "hashes": exact.vocabulary.table}
    write_model(tmp_path / "records", KIND, {**exact.settings, "unseen": 0.0}, arrays)
    again = NgramModel.load(tmp_path / "records")
    same(again.tables, exact.tables)
    tokens = exact.vocabulary.encode([["a", "b"], ["z"]])
    assert score_text(again.stored, tokens)[0].tobytes() == score_text(exact.stored, tokens)[0].tobytes()


def test_damaged_tables_are_one_clear_line(tmp_path):
    model = train([("text", ["a b c", "a b", "c"])], NgramSettings(3)).ngrams
    for change in ("event_fields", "context_fields", "bases"):
        array = getattr(model.stored, change)
        kept = array.copy()
        array[..., 1] += 1 << 20
        if change == "bases":
            model.stored.context_fields[-1, 9] += 100
        model.save(tmp_path / "damaged")
        with pytest.raises(ModelError, match="do not fit together"):
            NgramModel.load(tmp_path / "damaged")
        array[...] = kept


@pytest.mark.parametrize("quantise", [None, 2])
def test_forged_links_are_refused_or_stay_in_the_tables(quantise):
    """What `check` accepts, after each change of 64 bits, are tables whose records fit together, too."""
    sentences = [[3, 4, 5, 3], [4, 4, 6], [3, 4, 6, 7, 3, 4]]
    good = pack(of_text(sentences, 3, KneserNey(), (0, 0, 0)).tables, quantise)
    refused = accepted = 0
    for name in ("event_bits", "context_bits", "bases", "event_fields", "context_fields"):
        array = getattr(good, name)
        for place in range(array.size):
            for change in (1, 1 << 30, -1):
                forged = array.copy()
                mask = np.array(change).astype(array.dtype)
                forged.reshape(-1)[place] ^= mask
                tables = replace(good, **{name: forged})
                try:
                    tables.check("it")
                except ModelError:
                    refused += 1
                    continue
                accepted += 1
                unpack(tables).check("it")
    assert refused > accepted > 0
