"""What is wrong with an n-best file is said with its path and line, the value found and what was expected."""

import pytest

from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.decoder_features import check_same_features
from rerank_adapters.formats.json_programs import HYPORADISE
from rerank_adapters.formats.reading import read_nbest, stream_nbest
from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.nbest import Hypothesis, NBestList

GOOD = "0 ||| a ||| LM= -1 TM= 1 2 ||| -3\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("0 ||| a\n", "found 2 columns, expected id ||| text ||| features"),
        ("just text\n", "found 1 column, expected id"),
        ("\n", "found an empty line, expected id"),
        (" ||| a ||| LM= -1 TM= 1 2 ||| -3\n", "the segment id is missing"),
        ("0 ||| a ||| LM= x TM= 1 2 ||| -3\n", "feature 'LM' is 'x', expected a number"),
        ("0 ||| a ||| LM= -1 TM= 1 1,5 ||| -3\n", "feature 'TM_1' is '1,5', expected a number"),
        ("0 ||| a ||| LM= nan TM= 1 2 ||| -3\n", "feature 'LM' is 'nan', expected a finite number"),
        ("0 ||| a ||| LM= -1 TM= -inf 2 ||| -3\n", "feature 'TM_0' is '-inf', expected a finite number"),
        ("0 ||| a ||| LM= -1 TM= 1e999 2 ||| -3\n", "feature 'TM_0' is '1e999', expected a finite number"),
        ("0 ||| a ||| LM= 1_0 TM= 1 2 ||| -3\n", "feature 'LM' is '1_0', expected a number"),
        ("0 ||| a ||| LM= ١ TM= 1 2 ||| -3\n", "feature 'LM' is '١', expected a number"),
        ("0 ||| a ||| LM= -1 TM= 1 2 ||| nan\n", "the total score is 'nan', expected a finite number"),
        ("0 ||| a ||| LM= -1 TM= 1 2 ||| 0-0 1-1\n", "the total score is '0-0 1-1', expected a number"),
        ("0 ||| a ||| LM= -1 TM= 1 2 ||| \n", "the total score is '', expected a number"),
        ("0 ||| a ||| LM= -1 TM= 1 2\n", "the hypothesis has no total score, but line 1 has one"),
        ("0 ||| a ||| LM= -1 ||| -3\n", "lacks features 'TM_0', 'TM_1', unlike line 1"),
        ("0 ||| a ||| LM= -1 TM= 1 ||| -3\n", "lacks features 'TM_0', 'TM_1' and has the unexpected feature 'TM'"),
        ("0 ||| a ||| LM= -1 TM= 1 2 W= 1 ||| -3\n", "has the unexpected feature 'W'"),
        ("0 ||| a ||| LM= -1 TM= 1 2 3 ||| -3\n", "has the unexpected feature 'TM_2'"),
        ("0 ||| a ||| ||| -3\n", "lacks features 'LM', 'TM_0', 'TM_1'"),
        ("0 ||| a ||| -1 LM= -1 TM= 1 2 ||| -3\n", "has the unexpected feature 'feature_0'"),
        ("0 ||| a ||| LM= TM= 1 2 ||| -3\n", "feature 'LM' has no value"),
        ("0 ||| a ||| LM= -1 TM= 1 2 W= ||| -3\n", "feature 'W' has no value"),
        ("0 ||| a ||| LM= -1 TM= 1 2 LM= 4 ||| -3\n", "feature 'LM' occurs twice"),
        ("0 ||| a ||| LM= -1 TM= 1 2 wt_a= 1 wt_a= 2 ||| -3\n", "feature 'wt_a' occurs twice"),
        ("0 ||| a ||| LM= -1 TM= 1 2 =5 ||| -3\n", "'=5' lacks the name of a feature"),
        ("0 ||| a ||| LM= -1 TM= 1 2 wt_a= nan ||| -3\n", "feature 'wt_a' is 'nan'"),
    ],
)
@pytest.mark.parametrize("before", [1, 3])  # the first line after one, and after the layout has been remembered
@pytest.mark.parametrize("sparse", ["", " wt_a= 1 wt_b= 2"])
def test_moses(line, said, before, sparse):
    good = GOOD.replace(" ||| -3", sparse + " ||| -3")
    with pytest.raises(FormatError) as caught:
        list(FORMATS["moses"]().read([good] * before + [line] + [good], "dev.nbest"))
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"dev.nbest:{before + 1}: ")
    assert "\n" not in str(caught.value)


def test_the_first_line_can_be_wrong_too():
    with pytest.raises(FormatError, match="dev:1: feature 'LM' is 'nan'"):
        list(FORMATS["moses"]().read(["0 ||| a ||| LM= nan ||| 0\n"], "dev"))
    with pytest.raises(FormatError, match="dev:2: the hypothesis has a total score, but line 1 has none"):
        list(FORMATS["moses"]().read(["0 ||| a ||| LM= 1\n", "0 ||| a ||| LM= 1 ||| 0\n"], "dev"))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("wt_a= nan wt_b= 2", "feature 'wt_a' is 'nan', expected a finite number"),
        ("wt_a= 1 wt_b= 1e999", "feature 'wt_b' is '1e999', expected a finite number"),
        ("wt_a= 1_0 wt_b= 2", "feature 'wt_a' is '1_0', expected a number"),
        ("wt_a= 1 wt_b= ٣", "feature 'wt_b' is '٣', expected a number"),
        ("wt_a= 1 wt_a= 2", "feature 'wt_a' occurs twice"),
        ("wt_a= 1 wt_b=", "feature 'wt_b' "),  # has no value, or is '' behind a label
        ("wt_a= 1 2 wt_b= 1", "the hypothesis has the unexpected features 'wt_a_0', 'wt_a_1'"),
    ],
)
@pytest.mark.parametrize("joined", [True, False])
def test_known_sparse_features(wrong, said, joined):
    format, dense = (FORMATS["cdec"](), "") if joined else (FORMATS["moses"](), "LM= -1 ")
    squeeze = (lambda text: text.replace("= ", "=")) if joined else str
    good = f"0 ||| a ||| {squeeze(dense + 'wt_a= 1 wt_b= 2')} ||| -3\n"
    lines = [good] * 3 + [f"0 ||| a ||| {squeeze(dense + wrong)} ||| -3\n"]
    with pytest.raises(FormatError) as caught:
        list(format.read(lines, "x"))
    assert str(caught.value).startswith(f"x:4: {said}")


@pytest.mark.parametrize(("value", "fine"), [("1e15", True), ("-1e15", True), ("1e308", False), ("-1e30", False)])
def test_numbers_that_leave_nothing_of_others_are_refused(value, fine):
    lines = [*["0 ||| a ||| A= 1 B= 2 ||| 0\n"] * 3, f"0 ||| a ||| A= {value} B= {value} ||| 0\n"]
    if fine:
        (nbest,) = FORMATS["moses"]().read(lines, "dev")
        assert nbest[-1].features == (float(value), float(value))
        return
    with pytest.raises(FormatError, match=r"dev:4: feature 'A' is .*, expected a score of ordinary size"):
        list(FORMATS["moses"]().read(lines, "dev"))


@pytest.mark.parametrize(
    ("format", "line", "said"),
    [
        (
            "travatar",
            "0 ||| a ||| -3\n",
            "x:2: found 3 columns, expected id ||| text ||| score ||| features",
        ),
        ("travatar", "0 ||| a ||| lm=-1 ||| -3\n", "x:2: the hypothesis has the unexpected feature 'feature_0'"),
        ("marian", "0 ||| a ||| F0= 1\n", "x:2: found 3 columns, expected id ||| text"),
        ("cdec", "0 ||| a ||| LM=1 LM=2 ||| -3\n", "x:2: feature 'LM' occurs twice"),
        (
            "cdec",
            "0 ||| a ||| LM=1 Glue=inf ||| -3\n",
            "x:2: feature 'Glue' is 'inf', expected a finite number",
        ),
        ("joshua", "0 ||| a ||| 1 ||| -3\n", "x:2: the hypothesis has the unexpected feature 'feature_0'"),
    ],
)
def test_other_dialects(format, line, said):
    good = {"travatar": "0 ||| a ||| -3 ||| lm=1\n", "marian": "0 ||| a ||| F0= 1 ||| 1\n"}
    with pytest.raises(FormatError) as caught:
        list(FORMATS[format]().read([good.get(format, "0 ||| a ||| LM=1 ||| 0\n"), line], "x"))
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("S-0\ta\nH-0\tb\n", "x:2: found 'H-0\\tb', expected H-id, score and text, separated by tabs"),
        ("H-0\tnan\tb\n", "x:1: feature 'score' is 'nan', expected a finite number"),
        ("H-0\t-1\tb\nP-0\t-1 y\n", "x:1: feature 'logprob' is 'y', expected a number"),
        ("H-0\t-1\tb\nP-0\t-1\nH-0\t-1\tb\n", "x:3: the hypothesis lacks feature 'logprob'"),
        ("P-0\t-1\nH-0\t-1\tb\n", "x:1: the line stands before the hypothesis that it belongs to"),
        ("H-0\t-1\tb\nP-1\t-1\n", "x:2: the line is of another hypothesis than the lines before it"),
        ("S-0\ta\nT-0\tb\nS-1\ta\nH-1\t-1\tb\n", "x:3: segment 0 has no hypothesis"),
        ("H-1\t-1\tb\nS-2\ta\n", "x:2: segment 2 has no hypothesis: is the file cut short"),
    ],
)
def test_fairseq(text, said):
    with pytest.raises(FormatError) as caught:
        list(FORMATS["fairseq"]().read(text.splitlines(keepends=True), "x"))
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("text", ["", "INFO only a log\n"])
def test_a_file_without_lists(tmp_path, text):
    (tmp_path / "f").write_text(text)
    with pytest.raises(FormatError, match="f: the file holds no n-best list"):
        read_nbest([tmp_path / "f"], FORMATS["fairseq"]())


def test_features_that_differ_between_files(tmp_path):
    (tmp_path / "a").write_text("0 ||| a ||| LM= 1 W= 2 ||| 0\n")
    (tmp_path / "b").write_text("1 ||| a ||| W= 3 LM= 4 ||| 0\n")
    (tmp_path / "c").write_text("5 ||| a ||| W= 3 ||| 0\n")
    values = [nbest[0].features for nbest in stream_nbest([tmp_path / "a", tmp_path / "b"], FORMATS["moses"]())]
    assert values == [(1, 2), (4, 3)]
    said = "c:1: the features of segment 5 differ from those of segment 0: lacks feature 'LM'"
    with pytest.raises(FormatError, match=said):
        list(stream_nbest([tmp_path / "a", tmp_path / "c"], FORMATS["moses"]()))


def test_check_same_features():
    one = NBestList("0", (Hypothesis("a", (1.0, 2.0)),), ("x", "y"))
    assert check_same_features([one, one]) == ("x", "y")
    assert check_same_features([]) == ()
    with pytest.raises(FormatError, match="segment 1 differ from those of segment 0: has the unexpected feature 'z'"):
        check_same_features([one, NBestList("1", (), ("x", "y", "z"))])
    with pytest.raises(FormatError, match="has them in another order"):
        check_same_features([one, NBestList("1", (), ("y", "x"))])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"hyps": ["a"]}\nhyps\n', "x:2: not JSON"),
        ('{"nbest": ["a"]}\n', 'x:1: expected an object with "hyps"'),
        ('{"hyps": []}\n', 'x:1: expected an object with "hyps"'),
        ('{"hyps": ["a"], "scores": [NaN]}\n', "x:1: the total score is nan, expected a finite number"),
        ('{"hyps": ["a"], "features": {"f": [1, 2]}}\n', "x:1: 'f' must be 1 finite numbers, one for each hypothesis"),
        (
            '{"hyps": ["a"]}\n{"hyps": ["a"], "features": {"f": [1]}}\n',
            "x:2: the hypothesis has the unexpected feature 'f', unlike line 1",
        ),
    ],
)
def test_hyporadise(text, said):
    with pytest.raises(FormatError) as caught:
        list(HYPORADISE.read(text.splitlines(keepends=True), "x"))
    assert str(caught.value).startswith(said)
