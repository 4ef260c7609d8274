"""The decoder's features as a table, the rule that makes columns dense, and tables with the columns of others."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.decoder_features import DenseRule, align, decoder_table
from rerank_adapters.formats.reading import read_nbest
from rerank_plugins.core.errors import ConfigError, FormatError
from rerank_plugins.core.nbest import Hypothesis, NBestList
from tests.formats import naive_formats

GOLDEN = Path(__file__).parents[1] / "golden" / "formats"


def cdec_lists(*rows):
    """One list of hypotheses with these sparse features."""
    return [NBestList("0", tuple(Hypothesis("x", sparse=row) for row in rows))]


def as_mappings(table):
    """Every row as name -> value, zeros left out."""
    block = table.sparse
    rows = []
    for i, values in enumerate(table.values):
        row = dict(zip(table.names, values, strict=True))
        span = slice(block.indptr[i], block.indptr[i + 1])
        assert list(block.indices[span]) == sorted(set(block.indices[span]))
        row |= {block.names[c]: v for c, v in zip(block.indices[span], block.data[span], strict=True)}
        rows.append({name: value for name, value in row.items() if value})
    return rows


def test_moses_table():
    table = decoder_table(read_nbest([GOLDEN / "moses_sparse.nbest"], FORMATS["moses"](), repeated=True))
    assert table.names == ("LM0", "WordPenalty0", "TranslationModel0_0", "TranslationModel0_1")
    assert table.segment_ids == ("3", "7")
    assert table.offsets.tolist() == [0, 1, 4]
    assert table.values[1].tolist() == [-7.125, -3, -1.5, -2.25]
    assert table.sparse.names == ("pp_a,b", "wt_gr~green", "wt_j~yes", "wt_t~door")
    assert table.sparse.indptr.tolist() == [0, 1, 4, 5, 5]
    assert table.sparse.indices.tolist() == [2, 0, 1, 3, 1]
    assert table.sparse.data.tolist() == [1, 2, 1, 1, 1]


def test_a_decoder_that_leaves_out_zeros_gets_dense_columns():
    format = FORMATS["cdec"]()
    table = decoder_table(read_nbest([GOLDEN / "cdec.nbest"], format), format.dense_rule)
    assert table.names == (
        *("EgivenFCoherent", "Glue", "LanguageModel", "LanguageModel_OOV"),
        *("MaxLexEgivenF", "PassThrough", "WordPenalty"),
    )
    assert table.sparse.names == ()
    assert table.values[2].tolist() == [1.25, 0, -5.5, 0, 0.75, 0, -0.868589]


def test_new_features_with_an_underscore_are_columns_again():
    """Moses's rule calls them sparse; as every hypothesis has them they become dense."""
    text = "0 ||| a ||| LM= 1 ngram_1= 2 wt_a= 1 ||| 0\n0 ||| b ||| LM= 2 ngram_1= 3 ||| 0\n"
    nbests = list(FORMATS["moses"]().read(text.splitlines(keepends=True), "x"))
    table = decoder_table(nbests, FORMATS["moses"]().dense_rule)
    assert table.all_names == ("LM", "ngram_1", "wt_a")
    assert table.values.tolist() == [[1, 2], [2, 3]]


@pytest.mark.parametrize(
    ("rule", "dense"),
    [
        (DenseRule(), ["every"]),
        (DenseRule(few=3), ["every", "half", "rare"]),
        (DenseRule(few=2), ["every"]),
        (DenseRule(fraction=0.5), ["every", "half"]),
        (DenseRule(fraction=0.5, sparse=("e*",)), ["half"]),
        (DenseRule(dense=("r*",)), ["every", "rare"]),
        (DenseRule(few=3, dense=("*",), sparse=("*",)), []),
    ],
)
def test_the_rule(rule, dense):
    rows = [{"every": 1.0, "half": 2.0, "rare": 3.0}, {"every": 1.0, "half": 2.0}, {"every": 0.0}, {"every": 5.0}]
    table = decoder_table(cdec_lists(*rows), rule)
    assert list(table.names) == dense
    assert as_mappings(table) == [{k: v for k, v in row.items() if v} for row in rows]


features = st.dictionaries(st.sampled_from("abcde"), st.floats(-9, 9).filter(bool), max_size=5)


@given(st.lists(features, min_size=1, max_size=8), st.sets(st.sampled_from("abcde")), st.permutations("abcde"))
def test_columns_move_and_values_stay(rows, dense, order):
    table = decoder_table(cdec_lists(*rows), DenseRule(fraction=2.0, dense=tuple(dense)))
    wanted, left = order[:3], order[3:]
    aligned = align(table, wanted, left, absent_is_zero=True)
    assert aligned.names == tuple(wanted)
    assert aligned.sparse.names == tuple(left)
    assert as_mappings(aligned) == rows
    some = align(table, wanted, [], absent_is_zero=True)
    assert as_mappings(some) == [{k: v for k, v in row.items() if k in wanted} for row in rows]
    back = align(aligned, table.names, table.sparse.names, absent_is_zero=True)
    assert np.array_equal(back.values, table.values)
    assert np.array_equal(back.sparse.data, table.sparse.data)
    assert np.array_equal(back.sparse.indices, table.sparse.indices)


def test_a_test_set_gets_the_columns_of_the_tuning_set():
    tune = decoder_table(cdec_lists({"lm": 1.0, "oov": 2.0}, {"lm": 3.0}), DenseRule(few=9))
    test = decoder_table(cdec_lists({"lm": 4.0, "new": 5.0}), DenseRule(few=9))
    aligned = align(test, tune.names, tune.sparse.names, absent_is_zero=True)
    assert aligned.names == ("lm", "oov")
    assert aligned.values.tolist() == [[4, 0]]
    with pytest.raises(ConfigError, match="lacks feature 'oov' and has the unexpected feature 'new'"):
        align(test, tune.names, tune.sparse.names)
    assert align(tune, tune.names, tune.sparse.names) is tune


def test_lists_with_other_features():
    lists = [NBestList("0", (Hypothesis("a", (1.0,)),), ("x",)), NBestList("1", (Hypothesis("a"),))]
    with pytest.raises(FormatError, match="segment 1 differ from those of segment 0: lacks feature 'x'"):
        decoder_table(lists)


@pytest.mark.parametrize("name", ["example", pytest.param("europarl", marks=pytest.mark.release)])
def test_real_lists(request, root, name):
    path = root / "example_nbest" / "mt" / "test.nbest"
    if name == "europarl":
        path = request.getfixturevalue("shared_data") / "mt_nbest_moses_europarl" / "nbest.txt"
    table = decoder_table(read_nbest([path], FORMATS["moses"]()))
    with open(path, encoding="utf-8", newline="\n") as lines:
        naive = naive_formats.read(lines)
    assert np.array_equal(table.values, naive_formats.table(naive, table.names))
    assert table.segment_ids == tuple(naive)
    assert np.diff(table.offsets).tolist() == [len(rows) for rows in naive.values()]


def test_lists_without_scores_have_the_ranks_as_a_column():
    """Weights that are for other features leave the column out."""
    lists = [NBestList.from_texts(["so", "it", "is"], segment_id="0"), NBestList.from_texts(["so"], segment_id="1")]
    table = decoder_table(lists, ranks=True)
    assert table.names == ("reciprocal-rank",)
    assert table.values.tolist() == [[1.0], [0.5], [1 / 3], [1.0]]
    assert decoder_table(lists).names == ()
    assert align(table, (), ()).names == ()
    for scored in ({"scores": [-1.0]}, {"features": {"lm": [-1.0]}}):
        own = NBestList.from_texts(["so"], **scored, segment_id="0")
        assert "reciprocal-rank" not in decoder_table([own], ranks=True).names
