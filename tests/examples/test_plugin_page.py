"""The complete plugins of docs/plugins.md keep the contract, and work by the commands and configs that stand there."""

import re
import shlex
import shutil
import tomllib

import numpy as np
import pytest

import rerank_plugins
from rerank_adapters.builtin import BUILTIN
from rerank_adapters.job.specs import Names, Spec
from rerank_plugins import FeatureTable, read_conllu
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.kit.files.languages import embedded
from rerank_plugins.testing import (
    check_feature_extractor,
    check_format,
    check_incremental_lm,
    check_language_model,
    check_metric,
    check_parser,
    check_tuner,
)
from tests.command_line import done, refused
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
SECTIONS = {  # file name of the plugin -> the section that shows it
    match[1]: section
    for section in re.split(r"^## ", PAGE, flags=re.M)
    if (match := re.search(r"This\s+is\s+a\s+whole\s+plugin,\s+`(\w+\.py)`", section))
}


def blocks(section: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", section, re.S)


@pytest.fixture
def job(small, tmp_path, monkeypatch):
    """A folder with the plugins of the page, lists, and texts, which is the current one."""
    for file, section in SECTIONS.items():
        (tmp_path / file).write_text(blocks(section, "python")[0], encoding="utf-8")
    for name in ("tune.nbest", "tune.en", "test.en"):
        shutil.copy(small / name, tmp_path / name)
    shutil.copy(small / "tune.en", tmp_path / "train.en")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def build(job, kind, table):
    registry = load_plugins(BUILTIN, [job / file for file in SECTIONS], installed=False)
    return Spec.read(kind, table, Names(registry, job)).make()


def commands(file: str) -> list[list[str]]:
    return [shlex.split(line) for line in re.findall(r"^    rerank (.*)$", SECTIONS[file], re.M)]


def table(job, section: str) -> FeatureTable:
    """The features of the lists by the config of the section."""
    (job / "job.toml").write_text(blocks(section, "toml")[0], encoding="utf-8")
    done("extract", "tune.nbest", "-c", "job.toml", "-o", "config.npz")
    return FeatureTable.load(job / "config.npz")


def test_plugins_of_all_kinds_are_shown():
    own = ["dependency_distance.py", "chain_parser.py", "bigram.py"]
    assert list(SECTIONS) == [*own, "word_f_measure.py", "hill_climbing.py", "tab_lists.py"]


def test_a_parser(job):
    parser = build(job, "parser", {"use": "chain", "relation": "next"})
    check_parser(parser, [("a", "big", "cat"), ("yes",)])
    tree = parser.parse([("a", "big", "cat")])[0].dependencies
    assert (tree.heads, tree.relations) == ((1, 2, -1), ("next", "next", "root"))
    (parse,) = commands("chain_parser.py")
    done(*parse)
    with open(job / "test.conllu", encoding="utf-8") as lines:
        assert len(list(read_conllu(lines))) == 20
    plugins = ("--plugin", "chain_parser.py", "--plugin", "dependency_distance.py")
    done(*plugins, "extract", "tune.nbest", "-f", "dependency-distance,parser=chain", "-o", "chain.npz")
    values = FeatureTable.load(job / "chain.npz")
    assert set(values.values[:, values.names.index("dependency-distance")]) == {-1.0}


def test_a_metric(job):
    metric = build(job, "metric", {"use": "word-f-measure"})
    check_metric(metric)
    rows = metric.statistics([["a b c", "", "A b"]], [["a b", "c d e f"]])
    np.testing.assert_array_equal(rows, [[2, 3, 2], [0, 0, 4], [1, 2, 2]])
    np.testing.assert_allclose(metric.sentence_scores(rows), [80, 0, 50])
    assert build(job, "metric", {"use": "word-f-measure", "lowercase": True}).signature().endswith("case:lc")
    (evaluate,) = commands("word_f_measure.py")
    assert "word-f-measure" in done(*evaluate).out


def test_a_format(job):
    text = "7\t-1.5\ta cat\n7\t-2\t\n8\t0\tthe\r\n7\t1e-3\tlast"
    check_format(build(job, "format", {"use": "tab-lists"}), text, keeps_features=False)
    write, read = commands("tab_lists.py")
    done(*write)
    done(*read)
    assert "length" in FeatureTable.load(job / "tune.npz").names
    for wrong, said in {
        "7\tx\ta": "bad.tsv:2: the total is 'x', wanted a number",
        "7\ta": "bad.tsv:2: found 2 columns",
    }.items():
        (job / "bad.tsv").write_text(f"7\t1\ta\n{wrong}\n")
        command = ("--plugin", "tab_lists.py", "lists", "merge", "bad.tsv", "--format", "tab-lists")
        assert said in refused(*command)


def test_a_feature_with_a_parser(job):
    (job / "trees.conllu").write_text(
        "1\tthe\t_\tDET\t_\t_\t3\tdet\t_\t_\n2\tbig\t_\tADJ\t_\t_\t3\tamod\t_\t_\n"
        "3\tcat\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n1\tyes\t_\tINTJ\t_\t_\t0\troot\t_\t_\n\n",
        encoding="utf-8",
    )
    (job / "job.toml").write_text(
        "plugins = ['dependency_distance.py']\n[parser.trees]\nuse = 'treebank'\npath = 'trees.conllu'\n"
        "[[feature]]\nuse = 'dependency-distance'\nparser = 'trees'\n"
    )
    lines = [f"0 ||| {text} ||| F= 1 ||| 1\n" for text in ("the big cat", "yes", "a text without a tree", "")]
    (job / "own.nbest").write_text("".join(lines), encoding="utf-8")
    done("extract", "own.nbest", "-c", "job.toml", "-o", "own.npz")
    own = FeatureTable.load(job / "own.npz")
    np.testing.assert_array_equal(own.values[:, own.names.index("dependency-distance")], [-1.5, 0, -5, 0])
    check_feature_extractor(build(job, "feature", {"use": "dependency-distance", "parser": "english"}))
    (extract,) = commands("dependency_distance.py")
    done(*extract)
    assert "dependency-distance" in FeatureTable.load(job / "tune.npz").names
    shutil.copy(embedded("parser.biaffine"), job / "german.biaffine")
    assert "dependency-distance" in table(job, SECTIONS["dependency_distance.py"]).names


def test_a_language_model(job):
    (job / "two.txt").write_text("a b\na\n")
    model = build(job, "language_model", {"use": "bigram", "corpus": "two.txt", "smoothing": 2.0})
    check_language_model(model)
    check_incremental_lm(model)
    prior = {"a": 3 / 9, "b": 2 / 9, "</s>": 3 / 9, "unknown": 1 / 9}  # N = 5, V = 3
    after_a = {"a": 0, "b": 1, "</s>": 1, "unknown": 0}
    for word, count in after_a.items():
        assert np.isclose(np.exp(model.advance("a", word)[0]), (count + 2 * prior[word]) / 4)
    wrong = refused("--plugin", "bigram.py", "lm", "score", "test.en", "-M", "bigram,corpus=two.txt,smoothing=0")
    assert "smoothing is 0; wanted a number above 0" in wrong
    (score,) = commands("bigram.py")
    assert "20 sentences" in done(*score).out
    (feature,) = re.findall(r"`-f (bigram,\S+)`", SECTIONS["bigram.py"])
    done("--plugin", "bigram.py", "extract", "tune.nbest", "-f", feature, "-o", "feature.npz")
    assert "bigram.total" in FeatureTable.load(job / "feature.npz").names
    assert "small.total" in table(job, SECTIONS["bigram.py"]).names


def test_a_tuner(job):
    for metric in ("bleu", "ter"):
        check_tuner(build(job, "tuner", {"use": "hill-climbing"}), build(job, "metric", {"use": metric}))
    done("extract", "tune.nbest", "-f", "length", "-o", "tune.npz")
    (tune,) = commands("hill_climbing.py")
    done(*tune)
    weights = tomllib.loads((job / "weights.toml").read_text(encoding="utf-8"))
    assert "length" in weights["dense"]
    assert weights["provenance"]["tuner"].endswith("HillClimbing")


def test_every_exported_name_is_on_the_page():
    (exports,) = re.findall(r"^## What `rerank_plugins` exports\n(.*?)^## ", PAGE, re.S | re.M)
    assert sorted(re.findall(r"`(\w+)`", exports)) == sorted(rerank_plugins.__all__)


def test_plugins_import_the_exported_names_alone():
    plugins = [*ROOT.glob("example_nbest/plugin*/*.py")]
    texts = [path.read_text(encoding="utf-8") for path in plugins] + blocks(PAGE, "python")
    assert len(texts) > 8
    for text in texts:
        assert set(re.findall(r"(?:from|import) (rerank_\S+)", text)) <= {"rerank_plugins"}, text[:80]
