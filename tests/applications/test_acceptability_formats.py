"""Files of minimal pairs, judgements and test suites."""

import json
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_adapters.applications.acceptability.judgements import Judgement, read_judgements
from rerank_adapters.applications.acceptability.suite_file import METRICS, almost_equal, parse_formula, read_suite
from rerank_adapters.data.minimal_pairs import Pair, pair_lines, parse_pairs, read_pairs
from rerank_plugins import FormatError
from tests.applications import naive_acceptability as naive

BLIMP = {
    "sentence_good": "The cats sleep.", "sentence_bad": "The cats sleeps.", "field": "morphology",
    "linguistics_term": "subject_verb_agreement", "UID": "regular_1", "pairID": "7", "simple_LM_method": True,
}  # fmt: skip


@pytest.fixture
def written(tmp_path):
    def write(text, name="file.tsv"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def test_blimp(written):
    (pair,) = read_pairs(written(json.dumps(BLIMP) + "\n\n", "blimp.jsonl"))
    groups = {"phenomenon": "subject_verb_agreement", "field": "morphology", "paradigm": "regular_1"}
    assert pair == Pair("The cats sleep.", "The cats sleeps.", groups, 1)
    assert pair.nbest().texts == ["The cats sleep.", "The cats sleeps."]


def test_plain_pairs_with_and_without_a_header(written):
    two = read_pairs(written("a b\ta c\n\nd e\td f\n"))
    assert two == [Pair("a b", "a c", {}, 1), Pair("d e", "d f", {}, 3)]
    assert read_pairs(written("a b\ta c\tisland\r\n")) == [Pair("a b", "a c", {"phenomenon": "island"}, 1)]
    named = read_pairs(written("good\tbad\tkind\tposition\na b\tb\tmissing\t1\n"))
    assert named == [Pair("a b", "b", {"kind": "missing", "position": "1"}, 2)]


def test_compressed_pairs(tmp_path):
    path = tmp_path / "blimp.jsonl.xz"
    path.write_bytes(lzma.compress(json.dumps(BLIMP).encode()))
    assert len(read_pairs(path)) == 1


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "no pairs"),
        ("only one column\n", 1, "no tab, wanted good<TAB>bad"),
        ("a\tb\nc\td\te\n", 2, "3 columns, wanted 2: good, bad"),
        ("good\tbad\tkind\na\tb\n", 2, "2 columns, wanted 3: good, bad, kind"),
        ("a\t \n", 1, "an empty sentence"),
        ('{"sentence_good": "a"}\n', 1, "no 'sentence_bad'"),
        ('{"sentence_good": 3, "sentence_bad": "b"}\n', 1, "'sentence_good' is 3, wanted a sentence"),
        ('{"sentence_good": \n', 1, "not JSON: Expecting value"),
        ('{"sentence_good": "a", "sentence_bad": "b"}\n[1]\n', 2, r"'\[1\]' is not a JSON object"),
    ],
)
def test_pairs_of_another_form(written, text, line, message):
    path = written(text)
    with pytest.raises(FormatError, match=message) as caught:
        read_pairs(path)
    assert (caught.value.line, caught.value.path) == (line, str(path))


words = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Z")), min_size=1, max_size=6)
texts = st.lists(words, min_size=1, max_size=4).map(" ".join) | st.just('{"a": 1} b')


@given(st.lists(st.tuples(texts, texts, words), min_size=1))
def test_pairs_are_read_as_they_were_written(rows):
    pairs = [Pair(good, bad, {"phenomenon": group}, line) for line, (good, bad, group) in enumerate(rows, 2)]
    assert list(parse_pairs(pair_lines(pairs), "x")) == pairs


@pytest.mark.parametrize("header", ["", "good\tbad\n"])
def test_a_sentence_with_a_brace_is_no_json(written, header):
    path = written(f"{header}{{ a }} b\t{{ b a\nc d\td c\n{{}}\t{{ }}\n")
    assert [(pair.good, pair.bad) for pair in read_pairs(path)] == [
        ("{ a } b", "{ b a"), ("c d", "d c"), ("{}", "{ }"),
    ]  # fmt: skip


def test_judgements_of_pairs_with_braces(written):
    judged = read_judgements(written("\n\ngood\tbad\n{ a } b\t{ b a\n"))
    assert [(j.text, j.acceptable, j.line) for j in judged] == [("{ a } b", True, 4), ("{ b a", False, 4)]


def test_judgements_of_three_forms(written):
    cola = read_judgements(written("gj04\t1\t\tIt is.\ngj04\t0\t*\tIs it it.\n"))
    assert cola == [Judgement("It is.", True, 1), Judgement("Is it it.", False, 2)]
    plain = read_judgements(written("label\tsentence\n1\tIt is.\n\n0\tIs it it.\n"))
    assert [(j.text, j.acceptable, j.line) for j in plain] == [("It is.", True, 2), ("Is it it.", False, 4)]
    paired = read_judgements(written("good\tbad\nIt is.\tIs it it.\n", "p.tsv"))
    assert [(j.text, j.acceptable, j.nbest().segment_id) for j in paired] == [
        ("It is.", True, "2+"), ("Is it it.", False, "2-"),
    ]  # fmt: skip
    assert len(read_judgements(written(json.dumps(BLIMP), "b.jsonl"))) == 2


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "no sentences, wanted acceptable ones"),
        ("1\ta\n1\tb\n", None, "all 2 sentences have the same label"),
        ("1\ta\n2\tb\n", 2, "the label is '2', wanted 1"),
        ("1\ta\n0\n", 2, "1 columns, wanted 2"),
        ("1\ta\n0\t \n", 2, "an empty sentence"),
    ],
)
def test_judgements_of_another_form(written, text, line, message):
    with pytest.raises(FormatError, match=message) as caught:
        read_judgements(written(text))
    assert caught.value.line == line


def suite_table(formula="(1;%a%) < (2;%a%)", **changes):
    regions = [{"region_number": 1, "content": "The cat"}, {"region_number": 2, "content": "sat."}]
    item = {"item_number": 5, "conditions": [{"condition_name": "a", "regions": regions}]}
    predictions = [{"type": "formula", "formula": formula}]
    return {"meta": {"name": "tiny", "metric": "sum"}, "predictions": predictions, "items": [item], **changes}


def test_a_suite(written):
    suite = read_suite(written(json.dumps(suite_table()), "s.json"))
    assert (suite.name, suite.metric, suite.items[0].number) == ("tiny", "sum", "5")
    assert suite.items[0].conditions == {"a": {1: "The cat", 2: "sat."}}
    assert suite.predictions[0].regions == ((1, "a"), (2, "a"))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([], "the suite has no 'predictions'|the suite has no 'meta'"),
        (suite_table(items=[]), "1 predictions and 0 items"),
        (suite_table(items={}), "'items' of the suite is {}, wanted a list"),
        (suite_table(meta={"metric": "product"}), "the metric is 'product', wanted one of sum, mean"),
        (suite_table("(1;%b%) < 3"), r"item 5 has no condition 'b' \(it has: a\)"),
        (suite_table("(3;%a%) < 3"), "item 5 has no region 3 in condition 'a'"),
        (suite_table("(1;%a%) <"), "wanted a region .*, a number or a bracket, found the end"),
        (suite_table("(1;%a%) < 3 ]"), "wanted the end, found ']'"),
        (suite_table("[(1;%a%) < 3)"), "wanted ']', found '\\)'"),
        (suite_table("(1;%a%) + 3"), "nothing is compared"),
        (suite_table("(1;%a%) < 3 < 4"), "a number on both sides of '<'"),
        (suite_table("(1;%a%) & 3"), "a truth value on both sides of '&'"),
        (suite_table("(1;%a%) ~ 3"), "found '~ 3'"),
    ],
)
def test_suites_of_another_form(written, table, message):
    with pytest.raises(FormatError, match=message) as caught:
        read_suite(written(json.dumps(table), "s.json"))
    assert caught.value.path.endswith("s.json")


def test_no_json_names_the_line(written):
    with pytest.raises(FormatError, match=r"s\.json:2: not JSON"):
        read_suite(written('{"meta":\n', "s.json"))


numbers = st.integers(-3, 3).map(lambda n: f"{abs(n)}") | st.sampled_from(["(1;%a%)", "(2;%a-b%)", "(3;%c_1%)"])
sums = st.recursive(numbers, lambda inner: st.tuples(inner, st.sampled_from("+-"), inner).map(
    lambda parts: "[" + " ".join(parts) + "]"), max_leaves=4)  # fmt: skip
plain_sums = st.lists(sums, min_size=1, max_size=4).map(" - ".join)
compared = st.tuples(plain_sums, st.sampled_from("<>"), plain_sums).map(lambda parts: "[" + "".join(parts) + "]")
formulas = st.recursive(compared, lambda inner: st.lists(inner, min_size=2, max_size=3).flatmap(
    lambda parts: st.sampled_from([" & ", "|"]).map(lambda by: "(" + by.join(parts) + ")")), max_leaves=5)  # fmt: skip


@pytest.mark.slow
@given(formulas, st.lists(st.integers(-4, 4), min_size=3, max_size=3))
def test_formulas_mean_what_python_means(text, values):
    surprisals = dict(zip([(1, "a"), (2, "a-b"), (3, "c_1")], map(float, values), strict=True))
    assert parse_formula(text)(surprisals) == naive.formula(text, surprisals)


def test_sums_go_from_left_to_right_and_all_regions_have_a_name():
    assert parse_formula("5 - 2 - 1 = 2")({})
    assert parse_formula("5 - 2 + 1 = 4")({})
    assert parse_formula("(*;%a%) = 3")({(None, "a"): 3.0005})
    assert almost_equal(100.0, 100.0019)
    assert not almost_equal(100.0, 100.0021)


def test_metrics_of_regions():
    import numpy as np

    bits = np.array([1.0, 5.0, 3.0])
    assert {name: metric(bits) for name, metric in METRICS.items()} == {
        "sum": 9.0, "mean": 3.0, "median": 3.0, "range": 4.0, "max": 5.0, "min": 1.0,
    }  # fmt: skip
    assert all(metric(bits[:0]) == 0.0 for metric in METRICS.values())


def test_real_files(shared_data):
    """All pairs and all suites; a pair of BLiMP has two equal sentences."""
    pairs = read_pairs(shared_data / "blimp" / "blimp.jsonl.xz")
    assert len(pairs) == 44689
    assert len({pair.groups["paradigm"] for pair in pairs}) == 67
    suites = [read_suite(path) for path in sorted((shared_data / "syntaxgym").glob("*.json"))]
    assert len(suites) == 34
    assert sum(len(suite.predictions) for suite in suites) == 36
