"""The alignment column of n-best lists: read, kept, and used by the feature `decoder-alignment`."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from rerank_adapters.chain.extraction.known_values import of_lists
from rerank_adapters.formats.delimited import MarianFormat, MosesFormat, TravatarFormat
from rerank_plugins.core.errors import ConfigError
from rerank_plugins.core.nbest import Hypothesis, NBestList
from rerank_plugins.translation.alignment.feature import DecoderAlignmentFeature

MOSES = [
    "0 ||| the small house ||| LM0= -9 ||| -1.5 ||| |0-0| |2-2| |1-1| ||| 0-0 1-2 2-1\n",
    "0 ||| the house ||| LM0= -8 ||| -2 ||| |0-0| ||| 0-0 1-0\n",
    "0 ||| the ||| LM0= -8 ||| -2 ||| ||| \n",
]


def first_list(form, lines):
    return next(iter(form.read(lines, "lists")))


def test_the_column_is_read_and_kept():
    nbest = first_list(MosesFormat(), MOSES)
    assert [h.links for h in nbest] == ["0-0 1-2 2-1", "0-0 1-0", ""]
    assert list(MosesFormat().write(nbest)) == MOSES
    assert pickle.loads(pickle.dumps(nbest)) == nbest
    other = replace(nbest, hypotheses=(nbest[0]._replace(links="0-0"), *nbest[1:]))
    assert of_lists([other]) != of_lists([nbest])
    marian = "0 ||| a b ||| 0-1 1-0 ||| WordScores= -1 -2 ||| F0= -3 ||| -1\n"
    assert first_list(MarianFormat(), [marian])[0].links == "0-1 1-0"
    assert first_list(TravatarFormat(), ["0 ||| a ||| -1 ||| lm=-1 ||| 0-0\n"])[0].links == "0-0"
    for line in ("0 ||| a ||| lm= -1\n", "0 ||| a ||| lm= -1 ||| -1\n", "0 ||| 0-0 ||| lm= -1 ||| -1 ||| 0=0\n"):
        assert first_list(MosesFormat(), [line])[0].links is None


def test_the_feature():
    nbest = replace(first_list(MosesFormat(), MOSES), source="das Haus klein")
    away = (abs(2 / 3 - 1) + abs(1 - 2 / 3)) / 3
    wanted = [[0, 0, -away], [-1, -1, -(abs(1 / 3 - 1 / 2) + abs(2 / 3 - 1 / 2)) / 2], [-1, -3, -1]]
    np.testing.assert_allclose(DecoderAlignmentFeature().extract(nbest), wanted, atol=1e-12)
    empty = NBestList("0", (Hypothesis("", links=""),), source="")
    assert DecoderAlignmentFeature().extract(empty).tolist() == [[0, 0, -1]]


@pytest.mark.parametrize(
    ("hypothesis", "message"),
    [
        (Hypothesis("a b"), "segment 7, hypothesis 1 has no column"),
        (Hypothesis("a b", links="0-2"), "up to 0-2, but 1"),
    ],
)
def test_what_cannot_be_used(hypothesis, message):
    with pytest.raises(ConfigError, match=message):
        DecoderAlignmentFeature().extract(NBestList("7", (hypothesis,), source="x"))
