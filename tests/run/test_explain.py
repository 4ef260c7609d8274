"""`rerank explain`: contributions sum to the lead, word scores to the models' scores, and trees stand side by side."""

import json
import re

import pytest

from rerank_adapters.report.explanation import Explanation, FeatureLead, Side, WordScores
from rerank_adapters.report.explanation_lines import NAME_WIDTH, explanation_lines, outline
from rerank_plugins.core.constituency_tree import read_trees
from tests.command_line import done, refused

CONFIG = """
[tune]
nbest = ["tune.nbest"]
references = ["tune.en"]
[[test]]
name = "dev"
nbest = ["test.nbest"]
references = ["test.en"]
source = "test.de"
[tuner]
use = "mira"
passes = 2
[evaluation]
bootstrap = 0
randomisation = 0
contribution_folds = 0
[[metric]]
use = "wer"
[[feature]]
use = "length"
[[feature]]
use = "ngram-lm"
model = "lm.arpa"
label = "lm"
[[feature]]
use = "unigram"
model = "lm.arpa"
[language_model.same]
use = "ngram-lm"
model = "lm.arpa"
"""


@pytest.fixture(scope="module")
def job(small, tmp_path_factory):
    """A job that is done, in a folder with its lists."""
    folder = tmp_path_factory.mktemp("explained")
    for file in small.iterdir():
        (folder / file.name).symlink_to(file)
    (folder / "job.toml").write_text(CONFIG)
    done("run", folder / "job.toml", "--work", folder / "work")
    return folder


def explained(job, segment, *options):
    ran = done("explain", segment, "-c", job / "job.toml", "--work", job / "work", "--as", "json", *options)
    return json.loads(ran.out)


def test_contributions_sum_to_the_lead(job):
    found = explained(job, "3", "-a", "best", "-b", "7")
    assert found["b"]["rank"] == 7
    assert found["a"]["new_rank"] == 1
    lead = sum(row["lead"] for row in found["contributions"])
    assert lead == pytest.approx(found["a"]["score"] - found["b"]["score"])
    for row in found["contributions"]:
        assert row["lead"] == pytest.approx(row["weight"] * (row["first"] - row["second"]))
    sizes = [abs(row["lead"]) for row in found["contributions"]]
    assert sizes == sorted(sizes, reverse=True)
    values = {row["feature"]: row for row in found["contributions"]}
    assert values["length"]["second"] == len(found["b"]["text"].split())
    assert values["lm.total"]["family"] == "lm"


def test_words_have_the_scores_of_the_models(job):
    found = explained(job, "3", "-b", "7")
    rows = {tuple(row["models"]): row for row in found["words"]}
    assert set(rows) == {("lm", "same"), ("unigram",)}  # a model of the config that a feature uses has one row
    total = next(row for row in found["contributions"] if row["feature"] == "lm.total")
    for side, value in (("a", total["first"]), ("b", total["second"])):
        scored = rows["lm", "same"][side]
        assert [word["word"] for word in scored] == [*found[side]["text"].split(), "</s>"]
        assert sum(word["score"] for word in scored) == pytest.approx(value, abs=1e-4)


def test_choices(job):
    oracle = explained(job, "3", "-a", "oracle", "-b", "worst")
    assert oracle["a"]["metrics"]["wer"] <= oracle["b"]["metrics"]["wer"]
    by_text = explained(job, "3", "-a", oracle["a"]["text"], "-b", "first")
    assert by_text["a"]["text"] == oracle["a"]["text"]
    assert by_text["b"]["rank"] == 1
    assert explained(job, "3", "-a", "first")["b"]["new_rank"] == 2
    assert explained(job, "3", "--set", "tune")["source"] is None


def test_lists_with_weights_are_explained_as_the_job_is(job):
    options = ["--as", "json", "-a", "2", "-b", "5"]
    lists = [
        job / "test.nbest",
        "-w",
        job / "work" / "weights.toml",
        "-r",
        job / "test.en",
        "--source",
        job / "test.de",
    ]
    alone = json.loads(done("explain", "4", *lists, *options).out)
    whole = explained(job, "4", *options[2:])
    alone["words"], whole["words"] = ([row["models"][0] for row in found["words"]] for found in (alone, whole))
    assert alone == whole


def test_the_report_fits_a_terminal(job):
    lines = done("explain", "5", "-c", job / "job.toml", "--work", job / "work", "-b", "6", "--top", 3).lines
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert "Segment 5: A, new 1-best, against B, hypothesis" in text
    assert re.search(r"A leads by [+-]", text)
    assert re.search(r"^  \d+ other features", text, re.M)
    assert "  by family: " in text


def test_numbers_do_not_run_into_each_other():
    side = Side("a hypothesis", 1, 1, "a b", 0.0, {})
    row = FeatureLead("f", "f", 12345.678, 0.083333, -0.00020754, 0.0001234)
    explanation = Explanation("1", None, (), "map", 2, side, side, (row,) * 3, (), ())
    numbers = [line.split() for line in explanation_lines(explanation, 1, 80) if line.startswith("  f ")]
    assert numbers == [["f", "1.235e+04", "0.08333", "-0.000208", "+0.000123", "|█████"]]


@pytest.mark.parametrize("width", [40, 80, 120])
def test_texts_fill_the_width_and_names_their_column(width):
    side = Side("a hypothesis", 1, 1, "word " * 60, 0.0, {})
    row = FeatureLead("f" * 90, "f", 1.0, 2.0, 3.0, -1.0)
    lines = list(explanation_lines(Explanation("1", None, (), "map", 2, side, side, (row,), (), ()), 1, width))
    assert width - len("word ") < max(len(line) for line in lines if "word" in line) <= width
    (name,) = (line.split()[0] for line in lines if "ff" in line)
    assert name == "f" * (NAME_WIDTH - 1) + "…"


@pytest.mark.parametrize("width", [60, 100])
def test_words_stand_above_their_scores_in_lines_that_are_full(width):
    words = [*((f"{'w' * (n % 5 + 1)}{n}", -n / 8) for n in range(1, 30)), ("</s>", -0.5)]
    side = Side("a hypothesis", 1, 1, " ".join(word for word, _ in words[:-1]), 0.0, {})
    row = FeatureLead("f", "f", 1.0, 2.0, 3.0, -1.0)
    scores = WordScores(("lm",), words, words)
    lines = list(explanation_lines(Explanation("1", None, (), "map", 2, side, side, (row,), (scores,), ()), 1, width))
    below = lines[next(i for i, line in enumerate(lines) if line.startswith("Scores of words")) + 1 :]
    heads, values = ([line for line in below if line.split()[0] == name] for name in ("A", "lm"))
    assert width - len("  wwwww29") < max(map(len, heads)) <= width
    assert [word for line in heads for word in line.split()[1:]] == ["sum", *(word for word, _ in words)]
    found = [value for line in values[: len(heads)] for value in line.split()[1:]]
    assert found == [f"{sum(value for _, value in words):.2f}", *(f"{value:.2f}" for _, value in words)]
    assert all(len(head) == len(value) for head, value in zip(heads, values, strict=False))


TWO = """# sent_id = 1\n1\tshe\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tsleeps\t_\tVERB\t_\t_\t0\troot\t_\t_\n
# sent_id = 2\n1\tshe\t_\tPRON\t_\t_\t0\troot\t_\t_\n2\tslept\t_\tVERB\t_\t_\t1\tdep\t_\t_\n\n"""


def test_trees_stand_side_by_side(tmp_path):
    (tmp_path / "lists").write_text("7 ||| she sleeps ||| LM= -1 ||| -1\n7 ||| she slept ||| LM= -2 ||| -2\n")
    (tmp_path / "trees.conllu").write_text(TWO)
    (tmp_path / "w.toml").write_text("[dense]\nLM = 1.0\n")
    parser = f"treebank,path={tmp_path / 'trees.conllu'}"
    lines = done("explain", "7", tmp_path / "lists", "-w", tmp_path / "w.toml", "-p", parser).lines
    rows = [line.split() for line in lines if "nsubj" in line or "sleeps" in line]
    assert ["she", "nsubj", "sleeps", "*", "she", "root", "-"] in rows
    assert ["sleeps", "root", "-", "*", "slept", "dep", "she"] in rows
    same = done("explain", "7", tmp_path / "lists", "-w", tmp_path / "w.toml", "-p", parser, "-a", "2", "-b", "2").lines
    assert [line.split() for line in same if " dep " in line] == [["slept", "dep", "she", "slept", "dep", "she"]]


def test_outlines_keep_all_words_and_fit():
    (tree,) = read_trees(["(ROOT (S (NP (DT the) (JJ old) (NN dog)) (VP (VBD ran) (PP (IN to) (NP (PRP me))))))"])
    for width in (20, 34, 60, 100):
        lines = outline(tree, width)
        assert max(map(len, lines)) <= width
        assert re.findall(r"[a-z]+", " ".join(lines)) == list(tree.words())
    assert outline(tree, 34)[:2] == ["ROOT S", " (NP (DT the) (JJ old) (NN dog))"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["3"], "give either -c CONFIG or -w WEIGHTS, not both"),
        (["99", "-c", "job.toml", "--work", "work"], "job.toml has no segment '99'"),
        (["3", "-c", "job.toml", "--work", "work", "--set", "dve"], "no data set named 'dve'; did you mean 'dev'?"),
        (
            ["3", "-c", "job.toml", "--work", "work", "-a", "77"],
            "segment 3: no rank 77; the list has the ranks 1 to 10",
        ),
        (["3", "-c", "job.toml", "--work", "work", "-a", "wurst"], "segment 3: no hypothesis 'wurst'; wanted best, "),
        (["3", "-c", "job.toml", "--work", "work", "-p", "stanzer"], "--parser: no parser named 'stanzer'; did you"),
        (["3", "-c", "job.toml", "--work", "nowhere"], "nowhere/weights.toml: no such weights: `rerank run job.toml`"),
        (["3", "test.nbest", "-c", "job.toml"], "the job names its lists, references and source: give no others"),
        (
            ["3", "test.nbest", "-w", "work/weights.toml", "-a", "oracle"],
            "the best and the worst hypothesis are known by",
        ),
    ],
)
def test_wrong_arguments(job, monkeypatch, arguments, message):
    monkeypatch.chdir(job)
    assert message in refused("explain", *arguments)
