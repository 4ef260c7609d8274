"""Formats of recognisers: golden files, made by hand from the documented layouts; JSON is written back as it was."""

import io
import json
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.json_programs import ALTERNATIVES, WHISPER
from rerank_adapters.formats.list_files import stem
from rerank_adapters.formats.reading import read_nbest, stream_nbest
from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.logarithms import LN10
from rerank_plugins.core.metrics_and_tuners import Rescored
from rerank_plugins.core.nbest import NBestList

GOLDEN = Path(__file__).parents[1] / "golden" / "formats"
FILES = {
    "kaldi.text": FORMATS["kaldi"](),
    "kaldi/words_text": FORMATS["kaldi"](),
    "srilm.nbest": FORMATS["srilm"](),
    "srilm1.nbest": FORMATS["srilm"](),
    "julius.out": FORMATS["julius"](),
    "espnet.text": FORMATS["espnet"](),
    "whisper.jsonl": WHISPER,
    "nemo.tsv": FORMATS["nemo"](beam=2),
    "icefall.txt": FORMATS["icefall"](),
    "wenet.txt": FORMATS["wenet"](),
    "alternatives.jsonl": ALTERNATIVES,
}
every_file = pytest.mark.parametrize(("name", "format"), FILES.items(), ids=FILES)
JSON = {name: format for name, format in FILES.items() if format.reads_json}
every_json_file = pytest.mark.parametrize(("name", "format"), JSON.items(), ids=JSON)


def lists(name):
    return list(stream_nbest([GOLDEN / name], FILES[name]))


def read(format, text, path="x"):
    return list(format.read(io.StringIO(text, newline="\n"), str(path)))


def written(format, nbests, rescored=None):
    return "".join(line for nbest in nbests for line in format.write(nbest, rescored))


@every_file
@pytest.mark.parametrize("change", ["crlf", "no final newline", "both"])
def test_line_ends_make_no_difference(name, format, change):
    text = (GOLDEN / name).read_bytes().decode()
    if change in ("crlf", "both"):
        text = text.replace("\n", "\r\n")
    if change in ("no final newline", "both"):
        text = text.removesuffix("\n").removesuffix("\r")
    nbests = read(format, text, GOLDEN / name)
    assert [nbest.texts for nbest in nbests] == [nbest.texts for nbest in lists(name)]
    assert [h.features for nbest in nbests for h in nbest] == [h.features for nbest in lists(name) for h in nbest]
    if name in JSON:
        assert written(format, nbests) == text


@every_json_file
def test_lists_made_in_python_read_back(name, format):
    made = [
        NBestList(nbest.segment_id, tuple(h._replace(raw="") for h in nbest), nbest.feature_names)
        for nbest in lists(name)
    ]
    again = read(format, written(format, made), GOLDEN / name)
    assert [(n.segment_id, n.texts) for n in again] == [(n.segment_id, n.texts) for n in made]
    assert [(n.feature_names, [(h.features, h.score) for h in n]) for n in again] == [
        (n.feature_names, [(h.features, h.score) for h in n]) for n in made
    ]


@every_json_file
def test_a_rescored_list_keeps_its_texts(name, format):
    """The second list alone, turned round twice."""
    nbest = lists(name)[-1]
    rows = np.arange(len(nbest))
    turned = Rescored((), np.zeros((len(nbest), 0)), rows.astype(float), rows[::-1].tolist())
    (once,) = read(format, written(format, [nbest], turned), GOLDEN / name)
    (twice,) = read(format, written(format, [once], turned), GOLDEN / name)
    assert once.texts == nbest.texts[::-1]
    assert twice.texts == nbest.texts


def test_kaldi():
    first, second = lists("kaldi/words_text")
    assert (first.segment_id, first.texts) == ("utt-07", ["so it is", "so is it", ""])
    assert first.feature_names == ("ac_cost", "lm_cost")
    assert first[1].features == (-5204.02, -14.25)
    assert (second.segment_id, second.line, second[0].features) == ("utt-12", 4, (-8111.5, -21.75))
    assert lists("kaldi.text")[0].feature_names == ()


def test_the_utterance_of_a_file():
    names = ("a/utt.07.nbest.gz", "utt-07.wav.json", "utt", "-", "utt-07.lat.xz", ".x")
    assert [stem(name) for name in names] == ["utt.07", "utt-07", "utt", "0", "utt-07", ".x"]


def test_kaldi_integers_and_order(tmp_path):
    (tmp_path / "words.txt").write_text("<eps> 0\nso 1\nit 2\n")
    text = "a-b-10 2\na-b-2 1 2\na-b-1 1\n"
    (nbest,) = read(FORMATS["kaldi"](words=tmp_path / "words.txt"), text)
    assert (nbest.segment_id, nbest.texts) == ("a-b", ["so", "so it", "it"])
    with pytest.raises(FormatError, match=r"x:1: '7' is not in the symbol table"):
        read(FORMATS["kaldi"](words=tmp_path / "words.txt"), "a-1 7\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("utt-1 a\nutt-1 b\n", r"x:2: the key 'utt-1' occurs twice"),
        ("1089-134686-0001 a\n", r"x:1: found the key '1089-134686-0001', expected a key that ends in a rank: utt-1"),
        ("utt-1 a\n\n", r"x:2: found an empty line, expected a key"),
    ],
)
def test_kaldi_keys(text, said):
    with pytest.raises(FormatError, match=said):
        read(FORMATS["kaldi"](), text)


def test_kaldi_costs_that_are_missing(tmp_path):
    shutil.copytree(GOLDEN / "kaldi", tmp_path / "k")
    with pytest.raises(FormatError, match=r"k/am: no such file"):
        read_nbest([tmp_path / "k" / "words_text"], FORMATS["kaldi"](costs=("am",)))
    text = (tmp_path / "k" / "lm_cost").read_text()
    (tmp_path / "k" / "lm_cost").write_text(text.replace("utt-12-2 24.5\n", ""))
    with pytest.raises(FormatError, match=r"words_text:5: no cost for 'utt-12-2' in .*k/lm_cost"):
        read_nbest([tmp_path / "k" / "words_text"], FORMATS["kaldi"]())
    (tmp_path / "k" / "lm_cost").write_text(text + "utt-07-1 3\n")
    with pytest.raises(FormatError, match=r"lm_cost:6: the key 'utt-07-1' occurs twice"):
        read_nbest([tmp_path / "k" / "words_text"], FORMATS["kaldi"]())


def test_srilm_with_and_without_a_header():
    ((plain,), (first,)) = lists("srilm.nbest"), lists("srilm1.nbest")
    assert plain.segment_id == "srilm"
    assert plain.texts == ["so it is", "so is it", ""]
    assert plain.feature_names == ("acoustic", "lm", "words")
    assert plain[0].features == pytest.approx((-11043.7 * LN10, -21.4 * LN10, 5))
    assert first.texts == ["so it is", "so is it"]
    assert first[0].features == pytest.approx((-5340 * 1024 * math.log(1.0001),))


def test_srilm_folders():
    first, second = read_nbest([GOLDEN / "srilm"], FORMATS["srilm"]())
    assert (first.segment_id, second.segment_id) == ("utt-07", "utt-12")
    assert second.texts == ["oh no"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "NBestList2.0\n(-1) a ( st: 0 et: 1 g: -1 a: -2 )\n",
            r"x:1: found 'NBestList2.0', expected an NBestList1.0 header",
        ),
        ("NBestList1.0\n(-1) a\nNBestList1.0\n", r"x:3: the file has a second list, expected one list a file"),
        ("NBestList1.0\n-1 a\n", r"x:2: found '-1 a', expected .*`\(score\) words`"),
        ("NBestList1.0\n(a) b\n", r"x:2: feature 'score' is 'a', expected a number"),
        ("-1 -2\n", r"x:1: found '-1 -2', expected an NBestList1.0 header .* or acoustic score"),
        ("-1 b 3 c\n", r"x:1: feature 'lm' is 'b', expected a number"),
    ],
)
def test_srilm_errors(text, said):
    with pytest.raises(FormatError, match=said):
        read(FORMATS["srilm"](), text)


def test_julius():
    first, second = lists("julius.out")
    assert (first.segment_id, first.texts) == ("utt-07", ["so it is", "so is it"])
    assert first.feature_names == ("score", "acoustic", "lm")
    assert first[1].features == (-4370.5, -4295.25, -75.25)
    assert (second.segment_id, second[0].score, second.line) == ("utt-12", -2100.25, 22)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sentence2: a\n", "x:1: the line is no part of a list"),
        ("score1: 3\n", "x:1: the line stands before the hypothesis that it belongs to"),
        ("sentence1: a\nscore1: b\n", "x:1: feature 'score' is 'b', expected a number"),
        ("sentence1: a\nscore1: 1\nsentence2: b\n", "x:3: the hypothesis lacks feature 'score', unlike line 1"),
    ],
)
def test_julius_errors(text, said):
    with pytest.raises(FormatError, match=said):
        read(FORMATS["julius"](), text)


@pytest.mark.parametrize("path", ["espnet", "espnet/output.1/1best_recog/text"])
def test_espnet_folders(path):
    nbests = read_nbest([GOLDEN / path], FORMATS["espnet"]())
    assert [(n.segment_id, n.texts) for n in nbests][:2] == [
        ("utt-07", ["so it is", "so is it"]),
        ("utt-12", ["oh no"]),
    ]
    assert [h.score for h in nbests[0]] == [-3.2718, -4.125]
    assert nbests[1][0].features == (-1.5,)
    assert len(nbests) == (3 if path == "espnet" else 2)


def test_espnet_without_scores_and_with_some(tmp_path):
    shutil.copytree(GOLDEN / "espnet" / "output.1", tmp_path / "e")
    (tmp_path / "e" / "2best_recog" / "score").unlink()
    with pytest.raises(FormatError, match=r"2best_recog/score: the score file is missing, but other ranks have one"):
        read_nbest([tmp_path / "e"], FORMATS["espnet"]())
    (tmp_path / "e" / "1best_recog" / "score").unlink()
    assert read_nbest([tmp_path / "e"], FORMATS["espnet"]())[0].feature_names == ()
    (tmp_path / "e" / "1best_recog" / "score").write_text("utt-07 -1\n")
    (tmp_path / "e" / "2best_recog" / "score").write_text("utt-07 -2\n")
    with pytest.raises(FormatError, match=r"1best_recog/score:2: no score for utterance 'utt-12'"):
        read_nbest([tmp_path / "e"], FORMATS["espnet"]())
    with pytest.raises(FormatError, match=r"the folder holds no 1best_recog/text"):
        read_nbest([GOLDEN / "srilm"], FORMATS["espnet"]())


def test_whisper():
    first, second = lists("whisper.jsonl")
    assert first.texts == ["So it is. Yes.", "So is it. Yes."]
    assert first.feature_names == ("logprob", "avg_logprob", "no_speech_prob", "compression_ratio", "temperature")
    logprob = -0.25 * 6 - 0.5 * 3
    assert first[0].features == pytest.approx((logprob, logprob / 9, (0.0625 * 6 + 0.25 * 3) / 9, (5.4 + 1.5) / 9, 0))
    assert first[0].score == pytest.approx(logprob / 9)
    assert (second.segment_id, second.texts, second[0].features[0]) == ("utt-12", ["Oh no!"], -2)


def test_whisper_runs_of_one_utterance_are_a_list(tmp_path):
    results = json.loads((GOLDEN / "whisper.jsonl").read_text().splitlines()[0])
    for run, result in zip("ab", results, strict=True):
        (tmp_path / run).mkdir()
        (tmp_path / run / "utt-07.json").write_text(json.dumps(result, indent=2))
    (nbest,) = read_nbest([tmp_path / "a", tmp_path / "b" / "utt-07.json"], WHISPER)
    assert (nbest.segment_id, len(nbest)) == ("utt-07", 2)
    (again,) = read(WHISPER, written(WHISPER, [nbest]))
    assert (again.segment_id, again.texts, again[1].features) == ("utt-07", nbest.texts, nbest[1].features)


def test_nemo():
    first, second = lists("nemo.tsv")
    assert (first.segment_id, first.texts, first[1].score) == ("0", ["so it is", "so is it"], -13.05)
    assert (second.segment_id, second.texts, second[1].features) == ("1", ["oh no", ""], (-9.25,))
    with pytest.raises(FormatError, match=r"name the beam size, --format nemo,beam=128"):
        read(FORMATS["nemo"](), "a\t-1\n")
    with pytest.raises(FormatError, match=r"x:3: the file has 3 lines, expected a multiple of the beam size 2"):
        read(FORMATS["nemo"](beam=2), "a\t-1\n" * 3)
    with pytest.raises(FormatError, match=r"x:1: found 1 column, expected text<TAB>score"):
        read(FORMATS["nemo"](beam=2), "a\n")
    with pytest.raises(FormatError, match=r"x:1: found 3 columns, expected text<TAB>score"):
        read(FORMATS["nemo"](beam=2), "a\t-1\tscore= -1\n")


def test_icefall():
    first, second = lists("icefall.txt")
    assert (first.segment_id, first.texts) == ("utt-07", ["so it is", "so is it's"])
    assert (second.segment_id, second.texts) == ("utt-12", [""])
    assert read(FORMATS["icefall"](), "a:\thyp=so it is\n")[0].texts == ["so it is"]
    with pytest.raises(FormatError, match=r"x:1: found 'so', expected utterance:<TAB>ref="):
        read(FORMATS["icefall"](), "so\n")
    with pytest.raises(FormatError, match=r"x:1: found '\[1, 2', expected a list of words"):
        read(FORMATS["icefall"](), "a:\thyp=[1, 2\n")
    with pytest.raises(FormatError, match=r"x:1: segment a has no hypothesis: is the file cut short"):
        read(FORMATS["icefall"](), "a:\tref=['so']\n")


def test_wenet():
    first, second = lists("wenet.txt")
    assert (first.segment_id, first.texts, first[1].features) == ("utt-07", ["so it is", "so is it"], (-9.875,))
    assert (second.texts, second[1].score) == (["oh no", ""], -7.25)
    with pytest.raises(FormatError, match=r"x:2: segment a has no hypothesis: is the file cut short"):
        read(FORMATS["wenet"](), "wav a\nwav b\n")


def test_alternatives(tmp_path):
    first, second, third = lists("alternatives.jsonl")
    assert (first.segment_id, first.texts, first[1].features) == ("utt-07", ["so it is", "so is it"], (0.5,))
    assert (second.segment_id, second.texts) == ("utt-12", ["oh no", "owe no"])
    assert (third.texts, third[0].score) == (["So it is."], 0.75)
    google = {"results": [{"alternatives": [{"transcript": "a", "confidence": 0.9}, {"transcript": "b"}]},
                          {"alternatives": [{"transcript": " c"}]}]}  # fmt: skip
    (tmp_path / "call.json").write_text(json.dumps(google, indent=1))
    one, two = read_nbest([tmp_path / "call.json"], ALTERNATIVES)
    assert [(n.segment_id, n.texts, n.feature_names) for n in (one, two)] == [
        ("call-1", ["a", "b"], ()),
        ("call-2", ["c"], ()),
    ]
    assert [n.segment_id for n in read(ALTERNATIVES, written(ALTERNATIVES, [one, two]))] == [
        "call-1",
        "call-2",
    ]
    assert read(replace(ALTERNATIVES, text=("Display",)), (GOLDEN / "alternatives.jsonl").read_text())[1].texts == [
        "Oh no.",
        "Owe no.",
    ]


@pytest.mark.parametrize(
    ("format", "text", "said"),
    [
        (WHISPER, '{"a": 1}', r'x:1: expected a Whisper result with "segments" or "avg_logprob"'),
        (ALTERNATIVES, '{"results": [{"alternatives": [[]]}]}', r'x:1: expected "alternatives" with a "transcript" each'),
        (ALTERNATIVES, '{"results": []}', r'x:1: expected "alternatives" with a "transcript" each'),
        (ALTERNATIVES, '{"results":\n [}', r"x:2: not JSON \(.*\); expected JSON lines or one JSON document"),
        (ALTERNATIVES, '{"NBest": [{"Lexical": "a"}]}\nb\n', r"x:2: not JSON"),
        (WHISPER, '[{"text": "a", "avg_logprob": -1}]\n[{"text": "a"}]', r"x:2: the hypothesis lacks feature 'avg_logprob', unlike line 1"),
        (ALTERNATIVES, '{"alternatives": [{"transcript": "a"}], "rerank": {"scores": [1, 2]}}', r"'scores' must be 1 finite numbers"),
    ],
)  # fmt: skip
def test_json_errors(format, text, said):
    with pytest.raises(FormatError, match=said):
        read(format, text)


def test_a_rescored_record_keeps_its_other_keys():
    first, *_ = lists("alternatives.jsonl")
    (line,) = ALTERNATIVES.write(first, Rescored(("new",), np.array([[1.0], [2.0]]), np.array([0.1, 0.2]), [1, 0]))
    record = json.loads(line)
    (result,) = record["results"]
    assert (record["id"], result["resultEndTime"]) == ("utt-07", "1.5s")
    assert [item["transcript"] for item in result["alternatives"]] == ["so is it", "so it is"]
    assert record["rerank"] == {
        "segment": "utt-07",
        "scores": [0.2, 0.1],
        "features": {"confidence": [0.5, 0.9375], "new": [2.0, 1.0]},
    }


def test_mixed_encodings(tmp_path):
    (tmp_path / "mixed").write_bytes("utt-1 Straße\nutt-2 ".encode() + "Straße\n".encode("latin-1"))
    said = r"mixed:2: byte 11 of the line is 0xdf, which is not UTF-8"
    with pytest.raises(FormatError, match=re.compile(said)):
        read_nbest([tmp_path / "mixed"], FORMATS["kaldi"]())
