"""N-best formats: golden files read as they should, written back byte for byte, rescored without losing anything."""

import io
import json
import math
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_adapters.formats import plugin
from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.columns import FeatureCell
from rerank_adapters.formats.json_programs import HYPORADISE
from rerank_adapters.formats.reading import read_nbest, stream_nbest
from rerank_adapters.formats.splicing import spell
from rerank_adapters.texts.sources import Sources
from rerank_plugins.core.errors import ConfigError, FormatError
from rerank_plugins.core.metrics_and_tuners import Rescored
from rerank_plugins.core.nbest import Hypothesis, NBestList
from rerank_plugins.kit.files.text import open_text
from tests.formats import naive_formats

GOLDEN = Path(__file__).parents[1] / "golden" / "formats"
FILES = {
    "moses.nbest": FORMATS["moses"](),
    "moses_old.nbest": FORMATS["moses"](),
    "moses_sparse.nbest": FORMATS["moses"](),
    "cdec.nbest": FORMATS["cdec"](),
    "joshua.nbest": FORMATS["joshua"](),
    "joshua_old.nbest": FORMATS["joshua"](),
    "travatar.nbest": FORMATS["travatar"](),
    "marian.nbest": FORMATS["marian"](),
    "hyporadise.jsonl": HYPORADISE,
}
every_file = pytest.mark.parametrize(("name", "format"), FILES.items(), ids=FILES)


def read(format, text, path="x.nbest"):
    return list(format.read(io.StringIO(text, newline="\n"), path))


def lists(name):
    return list(stream_nbest([GOLDEN / name], FILES[name], repeated=True))


def reversed_with(nbest, *names):
    """A rescoring that turns the list round and adds features."""
    n = len(nbest)
    values = np.linspace(-1, 2.0 / 3.0, n * len(names)).reshape(n, len(names))
    return Rescored(names, values, np.arange(n) / 3.0 - 7, list(range(n))[::-1])


def test_every_format_is_registered():
    rows = {}
    plugin.register_nbest_formats(rows.__setitem__)
    assert {type(format) for format in FILES.values()} < {type(row()) for row in rows.values()}


@every_file
def test_writing_gives_the_same_bytes(name, format):
    written = "".join(line for nbest in lists(name) for line in format.write(nbest))
    assert written.encode() == (GOLDEN / name).read_bytes()


@every_file
@pytest.mark.parametrize("change", ["crlf", "no final newline", "both"])
def test_writing_keeps_line_ends(name, format, change):
    text = (GOLDEN / name).read_bytes().decode()
    if change != "no final newline":
        text = text.replace("\n", "\r\n")
    if change != "crlf":
        text = text.removesuffix("\n").removesuffix("\r")
    nbests = read(format, text)
    assert "".join(line for nbest in nbests for line in format.write(nbest)) == text
    assert [nbest.texts for nbest in nbests] == [nbest.texts for nbest in lists(name)]
    assert [h.features for nbest in nbests for h in nbest] == [h.features for nbest in lists(name) for h in nbest]


@every_file
def test_a_rescored_list_reads_back(name, format):
    for nbest in lists(name):
        rescored = reversed_with(nbest, "length", "ngram.oovs")
        (back,) = format.read(list(format.write(nbest, rescored)), "y")
        assert back.texts == nbest.texts[::-1]
        assert [h.score for h in back] == list(rescored.scores)[::-1]
        for before, after, values in zip(reversed(nbest), back, rescored.values[::-1], strict=True):
            old = dict(zip(nbest.feature_names, before.features, strict=True)) | dict(before.sparse)
            new = dict(zip(back.feature_names, after.features, strict=True)) | dict(after.sparse)
            assert new == old | dict(zip(rescored.names, values, strict=True))


@every_file
def test_a_list_made_in_python_reads_back(name, format):
    made_lists = [
        NBestList(nbest.segment_id, tuple(h._replace(raw="") for h in nbest), nbest.feature_names, source=nbest.source)
        for nbest in lists(name)
    ]
    written = [line for made in made_lists for line in format.write(made)]
    for made, back in zip(made_lists, format.read(written, "y"), strict=True):
        assert (back.segment_id, back.texts, back.feature_names) == (made.segment_id, made.texts, made.feature_names)
        assert [(h.features, h.score, dict(h.sparse)) for h in back] == [
            (h.features, h.score, dict(h.sparse)) for h in made
        ]


def test_moses():
    first, second = lists("moses.nbest")
    reordering = tuple(f"LexicalReordering0_{i}" for i in range(6))
    translation = tuple(f"TranslationModel0_{i}" for i in range(4))
    names = (*reordering, "Distortion0", "LM0", "WordPenalty0", "PhrasePenalty0", *translation)
    assert first.feature_names == second.feature_names == names
    assert (first.segment_id, first.line, len(first)) == ("0", 1, 3)
    assert (second.segment_id, second.line, second.texts) == ("1", 4, ["nobody came .", ""])
    best = first[0]
    assert best.text == "the old mill stands by the river ."
    assert best.features == (-0.94, 0, 0, -1.21, 0, 0, 0, -21.4173, -8, 5, -3.1174, -6.0321, -2.5512, -5.8874)
    assert best.score == -2.31874
    assert not best.sparse


def test_old_moses_labels():
    (nbest,) = lists("moses_old.nbest")
    assert nbest.feature_names == (*(f"d_{i}" for i in range(7)), "lm", *(f"tm_{i}" for i in range(5)), "w")
    assert nbest[1].features[7:9] == (-28.0904, -3.1178)
    assert nbest[1].text == "she reads a book ."


def test_sparse_features_and_runs_of_ids():
    runs = lists("moses_sparse.nbest")
    assert [run.segment_id for run in runs] == ["7", "3", "7"]
    assert runs[0].feature_names == ("LM0", "WordPenalty0", "TranslationModel0_0", "TranslationModel0_1")
    assert dict(runs[0][0].sparse) == {"wt_gr~green": 1, "wt_t~door": 1, "pp_a,b": 2}
    assert not runs[0][2].sparse


def test_which_features_are_sparse_can_be_said():
    text = "0 ||| a ||| lm_big= -1 wt_x= 2 LM= 3 ||| 0\n"
    ((hypothesis,),) = read(FORMATS["moses"](dense=("lm_*",), sparse=("LM",)), text)
    assert hypothesis.features == (-1,)
    assert dict(hypothesis.sparse) == {"wt_x": 2, "LM": 3}


def test_cdec_leaves_out_zeros():
    first, second = lists("cdec.nbest")
    assert first.feature_names == ()
    assert dict(second[0].sparse) == {
        "EgivenFCoherent": 1.25,
        "LanguageModel": -5.5,
        "MaxLexEgivenF": 0.75,
        "WordPenalty": -0.868589,
    }
    assert first[1].score == -3.52108


def test_values_without_labels():
    (nbest,) = lists("joshua_old.nbest")
    assert nbest.feature_names == ("feature_0", "feature_1", "feature_2", "feature_3")
    assert nbest[0].features == (-19.117, -9.702, -10.8, -3.04)


def test_travatar_has_the_total_before_the_features():
    first, second = lists("travatar.nbest")
    assert first[0].score == -4.5126
    assert first[1].sparse["lmunk"] == 1
    assert second[0] == Hypothesis("", (), -20, {}, "1 |||  ||| -20 ||| \n")


def test_marian_columns_between_text_and_features():
    first, _ = lists("marian.nbest")
    assert first.feature_names == ("F0", "F1")
    assert first[1].features == (-1.89, -1.71)
    assert first[1].score == -0.514286
    ((joined,),) = read(FORMATS["marian"](), "5 ||| ja ||| F0=-1.5 ||| -0.75\n")  # as Marian spells a single model
    assert joined.features == (-1.5,)


def test_fairseq():
    first, second = stream_nbest([GOLDEN / "fairseq.out"], FORMATS["fairseq"]())
    assert (first.segment_id, first.source, first.line) == ("2", "der Garten ist gro@@ ß", 4)
    assert first.texts == ["the garden is lar@@ ge", "the garden is big"]
    assert first.feature_names == ("score", "logprob")
    assert first[0].score == -0.5
    assert first[0].features == pytest.approx((-0.5 * math.log(2), -3 * math.log(2)))
    assert second.texts == ["thanks", ""]


def test_spelling_groups_what_reads_back_the_same():
    names = ("X_0", "X_1", "Y", "Y_1", "Z_1", "Z_0", "W_0", "V_0", "V_1", "V")
    assert spell(names, range(10), "= ") == "X= 0 1 Y= 2 Y_1= 3 Z_1= 4 Z_0= 5 W_0= 6 V_0= 7 V_1= 8 V= 9"
    assert spell(("feature_0", "feature_1", "a"), (1, 2, 3), "=") == "1 2 a=3"


@pytest.mark.parametrize("format", [FORMATS["moses"](), FORMATS["cdec"](), FORMATS["joshua"](), FORMATS["marian"]()])
def test_spaces_around_bars_are_free(format):
    text = "0|||a  b|||LM= -1|||2\n0  |||  a   |||  LM= -2  |||  -3  \n0 ||| c |||LM=4|||5\n"
    (nbest,) = read(format, text)
    assert nbest.texts == ["a  b", "a", "c"]
    values = [h.features or tuple(h.sparse.values()) for h in nbest]
    assert values == [(-1,), (-2,), (4,)]
    assert [h.score for h in nbest] == [2, -3, 5]
    assert "".join(format.write(nbest)) == text


def test_rescoring_keeps_everything_else():
    nbest = read(FORMATS["moses"](), "0||| a b |||LM= -1 ||| -1.50 ||| 0-0  1-1\n0 ||| c ||| LM=  -2 ||| -2 ||| \n")[0]
    rescored = Rescored(("x", "y"), np.array([[0.1, -3.0], [1e-300, 2.5]]), np.array([1.0, 2.0]), [1, 0])
    assert list(FORMATS["moses"]().write(nbest, rescored)) == [
        "0 ||| c ||| LM=  -2 x= 1e-300 y= 2.5 ||| 2 ||| \n",
        "0||| a b |||LM= -1 x= 0.1 y= -3 ||| 1 ||| 0-0  1-1\n",
    ]


def test_a_total_is_added_where_there_was_none():
    nbest = read(FORMATS["moses"](), "0 ||| a ||| LM= -1\n0 ||| b ||| LM= -2")[0]
    assert [h.score for h in nbest] == [None, None]
    assert list(FORMATS["moses"]().write(nbest, reversed_with(nbest, "x"))) == [
        "0 ||| b ||| LM= -2 x= 0.6666666666666666 ||| -6.666666666666667\n",
        "0 ||| a ||| LM= -1 x= -1 ||| -7",
    ]


def test_new_features_need_names_that_a_line_can_hold():
    nbest = read(FORMATS["moses"](), "0 ||| a ||| LM= -1 wt_a= 1 ||| 0\n")[0]
    for name in ("LM", "wt_a", "two words", "a=b", "x:", "", "feature_0"):
        with pytest.raises(ConfigError, match="feature"):
            list(FORMATS["moses"]().write(nbest, reversed_with(nbest, name)))
    with pytest.raises(ConfigError, match="feature 'x' is not finite"):
        list(FORMATS["moses"]().write(nbest, Rescored(("x",), np.array([[np.nan]]), np.zeros(1), [0])))


def test_features_in_another_order_are_put_in_order():
    (nbest,) = read(FORMATS["moses"](), "0 ||| a ||| LM= -1 TM= 1 2 ||| 0\n0 ||| b ||| TM= 3 4 LM= -2 ||| 0\n")
    assert nbest[1].features == (-2, 3, 4)


number = st.floats(-1e15, 1e15)
word = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zs", "Zl", "Zp"), blacklist_characters="|"), min_size=1)
label = st.text("abcLMxyz0.~", min_size=1, max_size=6)


@given(st.lists(st.tuples(label, st.lists(number, min_size=1, max_size=3)), max_size=4, unique_by=lambda g: g[0]))
def test_any_floats_and_labels_read_back_exactly(groups):
    names = tuple(f"{g}_{i}" if len(v) > 1 else g for g, v in groups for i in range(len(v)))
    values = tuple(value for _, v in groups for value in v)
    for separator in ("= ", "="):
        cell = FeatureCell(lambda name: False, "x")
        for _ in range(2):  # the second time by the remembered layout
            labels, found, _ = cell.read(spell(names, values, separator), 1)
            assert dict(zip(labels, map(float, found), strict=True)) == dict(zip(names, values, strict=True))


piece = st.sampled_from(
    [
        "LM= 1",
        "LM= 2",
        "LM=3",
        "TM= 1 2",
        "TM= 4 5",
        "wt_a= 1",
        "wt_a=1",
        "wt_b= 2",
        "wt_b: 3",
        "wt_a= nan",
        "7",
        "wt_b=",
    ]
)


@given(st.lists(st.lists(piece, max_size=5).map(" ".join), min_size=2, max_size=8), st.booleans())
def test_the_remembered_layout_changes_nothing(fields, all_sparse):
    """Lists read the same, or are refused, whether or not the layout of the line before is remembered."""
    lines = [f"0 ||| so ||| {field} ||| 0\n" for field in fields]
    format = FORMATS["cdec" if all_sparse else "moses"]()

    def outcome():
        try:
            return list(format.read(lines, "x"))
        except FormatError as error:
            return error.line

    with patch.object(FeatureCell, "_remember", lambda *_: None):
        wanted = outcome()
    assert outcome() == wanted


@given(st.lists(st.tuples(st.lists(word, max_size=5).map(" ".join), number, number), min_size=1, max_size=6))
def test_any_text_reads_back_and_any_list_is_written_as_read(rows):
    text = [f"4 ||| {t} ||| LM= {lm!r} ||| {total!r}\n" for t, lm, total in rows]
    (nbest,) = FORMATS["moses"]().read(text, "x")
    assert nbest.texts == [t for t, _, _ in rows]
    assert [h.features for h in nbest] == [(lm,) for _, lm, _ in rows]
    assert list(FORMATS["moses"]().write(nbest)) == text
    (back,) = FORMATS["moses"]().read(list(FORMATS["moses"]().write(nbest, reversed_with(nbest, "new"))), "y")
    assert back.texts == nbest.texts[::-1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("mt_nbest_moses_europarl/nbest.txt", marks=pytest.mark.release),
        pytest.param("mt_nbest_tatoeba_de_en/test.nbest.xz", marks=pytest.mark.release),
        "",
    ],
)
def test_real_lists_as_the_naive_reader_reads_them(request, root, name):
    """Those of the example, and those beside us."""
    path = request.getfixturevalue("shared_data") / name if name else root / "example_nbest" / "mt" / "test.nbest"
    with open_text(path) as stream:
        text = list(stream)
    naive = naive_formats.read(text)
    nbests = list(FORMATS["moses"]().read(text, "x"))
    assert [nbest.segment_id for nbest in nbests] == list(naive)
    for nbest in nbests:
        assert [(h.text, dict(zip(nbest.feature_names, h.features, strict=True)), h.score) for h in nbest] == naive[
            nbest.segment_id
        ]
    assert [line for nbest in nbests for line in FORMATS["moses"]().write(nbest)] == text


def test_lists_get_their_source_sentence(tmp_path):
    (tmp_path / "src").write_text("null\neins\r\nzwei\ndrei\n", newline="")
    (tmp_path / "n").write_text("3 ||| a ||| LM= 1 ||| 0\n1 ||| b ||| LM= 1 ||| 0\n")
    assert [n.source for n in stream_nbest([tmp_path / "n"], FORMATS["moses"](), Sources(tmp_path / "src").of)] == [
        "drei",
        "eins",
    ]
    assert [n.source for n in read_nbest([tmp_path / "n"], FORMATS["moses"](), Sources(tmp_path / "src").of)] == [
        "eins",
        "drei",
    ]
    (tmp_path / "n").write_text("4 ||| a ||| LM= 1 ||| 0\n")
    with pytest.raises(
        FormatError, match=r"src: segment 4 is not in the file, which has 4 lines, for the segments 0 to 3"
    ):
        read_nbest([tmp_path / "n"], FORMATS["moses"](), Sources(tmp_path / "src").of)


def test_hyporadise_with_ids_of_utterances_and_scores():
    line = '{"id": "atis_0000", "hyps": ["a b", "a c"], "scores": [-1, -2.5], "ref": "a b"}\n'
    (by_place,) = replace(HYPORADISE, id_key="none").read([line], "x")
    (by_id,) = HYPORADISE.read([line], "x")
    assert (by_place.segment_id, by_id.segment_id) == ("0", "atis_0000")
    assert [h.score for h in by_id] == [-1.0, -2.5]
    assert "".join(replace(HYPORADISE, id_key="id").write(by_id)) == line
    assert "without scores" not in HYPORADISE.__doc__
    (again,) = replace(HYPORADISE, id_key="id").read(
        replace(HYPORADISE, id_key="id").write(by_id, reversed_with(by_id, "f")), "x"
    )
    assert (again.segment_id, again.texts) == ("atis_0000", ["a c", "a b"])


def test_hyporadise():
    first, second, third = lists("hyporadise.jsonl")
    assert first.texts == ["it was made by floyd", "it was made by lloyd", "it was made by floyd"]
    assert [nbest.segment_id for nbest in (first, second, third)] == ["utt-00", "1", "utt-02"]
    assert first[0].score is None
    assert first.feature_names == ()
    (line,) = HYPORADISE.write(second, reversed_with(second, "f"))
    assert json.loads(line) == {
        "input": ["a street of three", "a straße of 3"], "output": "a straße of three",
        "rerank": {"segment": "1", "scores": [1 / 3 - 7, -7.0], "features": {"f": [2 / 3, -1.0]}},
    }  # fmt: skip
    (shorter,) = HYPORADISE.write(first.select([1]))
    assert json.loads(shorter) == {"rerank": {"segment": "utt-00"}, "hyps": ["it was made by lloyd"]}
