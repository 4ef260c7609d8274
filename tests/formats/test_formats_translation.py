"""Formats of neural translation systems: golden files read as they should, written back, and rescored."""

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.json_programs import (
    COMPLETIONS,
    CTRANSLATE2,
    SOCKEYE,
    TRANSFORMERS,
)
from rerank_adapters.formats.reading import read_nbest, stream_nbest
from rerank_adapters.formats.recognition import guess
from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.metrics_and_tuners import Rescored

GOLDEN = Path(__file__).parents[1] / "golden" / "formats"
FILES = {
    "plain.txt": FORMATS["plain"](n=2),
    "sockeye.jsonl": SOCKEYE,
    "ctranslate2.jsonl": CTRANSLATE2,
    "transformers.jsonl": TRANSFORMERS,
    "transformers_pipeline.jsonl": TRANSFORMERS,
    "completions.jsonl": COMPLETIONS,
}


def lists(name):
    return list(stream_nbest([GOLDEN / name], FILES[name]))


def read(format, text, path="x"):
    return list(format.read(io.StringIO(text, newline="\n"), str(path)))


def written(format, nbests):
    return "".join(line for nbest in nbests for line in format.write(nbest))


@pytest.mark.parametrize(("name", "format"), FILES.items(), ids=FILES)
@pytest.mark.parametrize("change", ["none", "crlf", "no final newline", "both"])
def test_line_ends_make_no_difference_and_json_is_written_as_it_was(name, format, change):
    text = (GOLDEN / name).read_bytes().decode()
    if change in ("crlf", "both"):
        text = text.replace("\n", "\r\n")
    if change in ("no final newline", "both"):
        text = text.removesuffix("\n").removesuffix("\r")
    nbests = read(format, text)
    assert [nbest.texts for nbest in nbests] == [nbest.texts for nbest in lists(name)]
    if format.reads_json:
        assert written(format, nbests) == text


def test_plain_lines_with_scores():
    first, second = lists("plain.txt")
    assert (first.segment_id, first.texts, first.feature_names) == ("0", ["the old mill", "an old mill"], ("score",))
    assert [(h.score, h.features) for h in first] == [(-0.5, (-0.5,)), (-0.75, (-0.75,))]
    assert (second.segment_id, second.line, second.texts) == ("1", 3, ["nobody came", "none came"])


@pytest.mark.parametrize("n", [3, 0])
def test_groups_between_blank_lines_are_no_lists(n):
    wanted = "2 lines for each, without blank lines" if n else "name it, --format plain,n=100"
    with pytest.raises(FormatError, match=wanted):
        read(FORMATS["plain"](n=n), "a\nb\n\nc\nd\n\n")
    with pytest.raises(FormatError, match="reads as groups of lines between blank lines"):
        guess(["a\n", "b\n", "\n", "c\n", "d\n"], "x")
    (one,) = read(FORMATS["plain"](n=3), "a\nb\n\n")  # an empty hypothesis
    assert one.texts == ["a", "b", ""]


def test_plain_lines(tmp_path):
    (tmp_path / "h").write_text("a\nb\n\nc\n")
    (tmp_path / "h.features").write_text("lm= -1 words= 1\nlm= -2 words= 1\nlm= 0 words= 0\nlm= -3 words= 1\n")
    first, second = read_nbest([tmp_path / "h"], FORMATS["plain"](n=2))
    assert (first.texts, second.texts, second.feature_names) == (["a", "b"], ["", "c"], ("lm", "words"))
    assert second[1].features == (-3, 1)
    with pytest.raises(FormatError, match=r"h.logp: no such file"):
        read_nbest([tmp_path / "h"], FORMATS["plain"](n=2, scores=".logp"))
    (tmp_path / "h.logp").write_text("1\n2\n")
    with pytest.raises(FormatError, match=r"h.logp:3: ends before line 3 of the lists"):
        read_nbest([tmp_path / "h"], FORMATS["plain"](n=2, scores=".logp"))
    (tmp_path / "h.logp").write_text("1\n2\n3\n4\n5\n")
    with pytest.raises(FormatError, match=r"h.logp: has more lines than the lists"):
        read_nbest([tmp_path / "h"], FORMATS["plain"](n=2, scores=".logp"))
    with pytest.raises(FormatError, match=r"h:4: the file has 4 lines, expected a multiple of the 3 lines"):
        read_nbest([tmp_path / "h"], FORMATS["plain"](n=3))


def test_plain_lines_that_begin_with_a_score():
    text = "-0.41 ||| the old mill\n-0.63 ||| an old mill\n"
    (nbest,) = read(FORMATS["plain"](n=2, prefix=True), text)
    assert (nbest.texts, [h.score for h in nbest], nbest[1].features) == (
        ["the old mill", "an old mill"],
        [-0.41, -0.63],
        (-0.63,),
    )
    with pytest.raises(FormatError, match=r"x:1: found 'a', expected score \|\|\| text"):
        read(FORMATS["plain"](n=1, prefix=True), "a\n")
    with pytest.raises(FormatError, match=r"x:1: the total score is 'a', expected a number"):
        read(FORMATS["plain"](n=1, prefix=True), "a ||| b\n")


def test_sockeye():
    first, second = lists("sockeye.jsonl")
    assert (first.segment_id, first.texts) == ("0", ["the old mill", "an old mill"])
    assert [(h.score, h.features) for h in first] == [(-0.41, (-0.41,)), (-0.63, (-0.63,))]
    assert (second.segment_id, second.texts, second[0].score) == ("1", ["nobody came"], -0.25)
    assert [
        n.segment_id for n in read(replace(SOCKEYE, id_key="sentence_id"), (GOLDEN / "sockeye.jsonl").read_text())
    ] == ["1", "2"]


def test_sockeye_rescored():
    first, _ = lists("sockeye.jsonl")
    (line,) = SOCKEYE.write(first, Rescored((), np.zeros((2, 0)), np.array([0.0, 1.0]), [1, 0]))
    record = json.loads(line)
    assert (record["translation"], record["score"], record["domain"]) == ("an old mill", 0.63, "x")
    assert record["scores"] == [[0.63, 0.2], [0.41, 0.1]]


def test_ctranslate2():
    first, second = lists("ctranslate2.jsonl")
    assert (first.texts, first[1].features) == (["▁the ▁old ▁mill", "▁an ▁old ▁mill"], (-0.63,))
    assert second.texts == ["nobody came"]


def test_transformers():
    first, second = lists("transformers.jsonl")
    assert (first.segment_id, first.texts, first[1].score) == ("0", ["so it is", "so is it"], -0.34)
    assert (second.segment_id, second.texts) == ("utt-12", [""])
    one, two = lists("transformers_pipeline.jsonl")
    assert (one.texts, two.texts, one.feature_names) == (["the old mill", "an old mill"], ["nobody came"], ())
    batch = {"sequences": list("abcd"), "sequences_scores": [-1, -2, -3, -4]}
    lower, upper = read(replace(TRANSFORMERS, n=2), json.dumps(batch))
    assert (lower.texts, upper.texts, upper[0].score) == (["a", "b"], ["c", "d"], -3)
    nested = [[{"generated_text": "a", "score": -1}], [{"generated_text": "b", "score": -2}]]
    assert [n.texts for n in read(TRANSFORMERS, json.dumps(nested, indent=1))] == [["a"], ["b"]]


def test_completions():
    chat, text, batch, vllm = lists("completions.jsonl")
    assert (chat.segment_id, chat.texts, chat.feature_names) == ("0", ["the old mill", "an old mill"], ("logprob",))
    assert [(h.score, h.features) for h in chat] == [(-0.75, (-0.75,)), (-1.5, (-1.5,))]
    assert (text.segment_id, text.texts, text[0].score) == ("1", ["nobody came"], -1.5)
    assert (batch.segment_id, batch.texts) == ("news-3", ["it rains", ""])  # the second text was refused
    assert (vllm.segment_id, vllm.texts, vllm[0].score) == ("7", ["it is raining"], -2.5)
    requests = read(replace(COMPLETIONS, id_key="id"), (GOLDEN / "completions.jsonl").read_text().split("\n", 1)[0])
    assert requests[0].segment_id == "chatcmpl-1"
    (own,) = read(COMPLETIONS, '{"id": "utt-7", "choices": [{"text": "a"}]}')
    assert (own.segment_id, own[0].score, own.feature_names) == ("utt-7", None, ())


def test_completions_of_several_requests_in_a_document():
    gemini = [{"candidates": [{"content": {"parts": [{"text": "a"}, {"text": "b"}]}, "avgLogprobs": -0.5}]}] * 2
    first, second = read(COMPLETIONS, json.dumps(gemini, indent=1))
    assert (first.texts, first[0].score, first.feature_names) == (["ab"], -0.5, ("avg_logprob",))
    assert second.segment_id == "1"


def test_completions_rescored():
    *_, batch, _ = lists("completions.jsonl")
    (line,) = COMPLETIONS.write(batch, Rescored((), np.zeros((2, 0)), np.array([0.0, 1.0]), [1, 0]))
    choices = json.loads(line)["response"]["body"]["choices"]
    assert [choice["index"] for choice in choices] == [1, 0]
    (again,) = read(COMPLETIONS, line)
    assert (again.segment_id, again.texts, again[0].score) == ("news-3", ["", "it rains"], 1.0)


@pytest.mark.parametrize(
    ("format", "text", "said"),
    [
        (
            COMPLETIONS,
            "{}",
            r"x:1: expected choices, outputs, candidates with an object and a text for each text",
        ),
        (
            COMPLETIONS,
            '{"choices": [{"text": 1}]}',
            r"expected choices, outputs, candidates with an object and a text for each",
        ),
        (
            COMPLETIONS,
            '{"custom_id": "a", "response": {"status_code": 429, "body": {"error": {"message": "rate\\nlimit"}}}}',
            r"for each text; the request failed: rate limit",
        ),
        (SOCKEYE, "{}", r'x:1: expected an object with "translations" or "translation"'),
        (SOCKEYE, '{"translation": "a", "score": -Infinity}', r"x:1: score is -inf, expected a finite number"),
        (
            CTRANSLATE2,
            '{"hypotheses": [[1]]}',
            r'expected an object with "hypotheses", tokens or a text for each hypothesis',
        ),
        (
            CTRANSLATE2,
            '{"hypotheses": [["a"]], "scores": [1, 2]}',
            r"'scores' must be 1 finite numbers, one for each hypothesis",
        ),
        (TRANSFORMERS, '{"sequences": [[1, 2]]}', r"decoded with batch_decode"),
        (replace(TRANSFORMERS, n=2), '{"sequences": ["a", "b", "c"]}', r"3 sequences, expected a multiple of n = 2"),
        (TRANSFORMERS, '[{"x": 1}]', r"an array of objects with one of translation_text, generated_text"),
    ],
)
def test_errors(format, text, said):
    with pytest.raises(FormatError, match=said):
        read(format, text)
