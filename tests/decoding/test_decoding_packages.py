"""pyctcdecode with our language models inside, in an environment of its own.

pyctcdecode wants NumPy 1. The environment has that and the package; everything else, this checkout included, is found
where the tests find it.
"""

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv

import numpy as np
import pytest

from rerank_adapters.decoding import BeamScorer
from rerank_plugins.hhmm.language_model import HhmmLanguageModel
from rerank_plugins.ngram.language_model import NgramLanguageModel
from tests.conftest import ROOT
from tests.decoding.generated_ctc import labels_of, noisy_log_probs
from tests.decoding.naive_ctc import every_text, rescored, search
from tests.ngram.naive_features import write_arpa

LABELS = ["", " ", "a", "b"]
ALL = {"beam_width": 10**6, "beam_prune_logp": -1e9, "token_min_logp": -1e9, "prune_history": False}
SILENT = {"alpha": 0.0, "beta": 0.0}
PAGE = (ROOT / "docs" / "speech.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.release


class Environment:
    """A virtual environment: what is installed there comes first, what the tests have comes after it."""

    def __init__(self, folder):
        venv.create(folder, with_pip=False)
        self.python = folder / "bin" / "python"
        self.paths = [str(ROOT), str(ROOT / "adapters")]
        (site,) = folder.glob("lib/python*/site-packages")
        (site / "after.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")

    def install(self, *packages):
        """Install packages without their dependencies and without compiling any, or skip with pip's reason."""
        pip = [
            sys.executable,
            "-m",
            "pip",
            "--python",
            self.python,
            "install",
            "--quiet",
            "--no-deps",
            "--no-compile",
            "--only-binary=:all:",
            "--retries=0",
        ]
        done = subprocess.run([*pip, *packages], capture_output=True, text=True, check=False)
        if done.returncode:
            lines = done.stderr.strip().splitlines() or ["pip failed"]
            pytest.skip(f"{', '.join(packages)} cannot be installed: {lines[-1]}")

    def run(self, *arguments, cwd=ROOT):
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(self.paths), "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [self.python, *arguments], capture_output=True, text=True, check=False, cwd=cwd, env=environment
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def decoded(self, module, cases, path):
        path.write_text(json.dumps(cases), encoding="utf-8")
        return json.loads(self.run("-m", f"tests.decoding.{module}", path))


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    made = Environment(tmp_path_factory.mktemp("ctc") / "environment")
    made.install("pyctcdecode", "pygtrie", "numpy<2")
    return made


@pytest.fixture(scope="module")
def arpa(tmp_path_factory):
    """N-grams of words that the letters of `LABELS` can spell."""
    text = [("a", "b"), ("ab", "b", "a"), ("b", "ab"), ("aa", "ba"), ("abba",), ("a", "ab", "a", "b")]
    return write_arpa(tmp_path_factory.mktemp("lm") / "letters.arpa", text)


def log_probs(seed, frames):
    logits = 2 * np.random.default_rng(seed).standard_normal((frames, len(LABELS)))
    return logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)


def case(values, model=None, **settings):
    defaults = {"alpha": 0.7, "beta": 0.4, "unk_score_offset": 0.0}
    return {
        "logits": values.tolist(), "labels": LABELS, "model": model, "settings": defaults | settings, "search": ALL
    }  # fmt: skip


@pytest.fixture(scope="module")
def results(environment, arpa, tmp_path_factory):
    """All cases with pyctcdecode, in one process: its imports cost more than its searches."""
    sentences = [["ab", "b", "zz"], ["abba"], ["unknownword", "a", "b", "a"]]
    ours, theirs = {"arpa": str(arpa)}, {"kenlm": str(arpa)}
    text = ("a", "abba", "ab", "b")
    noisy = noisy_log_probs(text, labels_of([text]), np.random.default_rng(3), certainty=4.0)
    cases = {
        "silent": case(log_probs(0, 5)),
        "unigrams": {
            **case(log_probs(0, 4), ours, unigrams=["a", "b", "ab"], unk_score_offset=-2.0),
            "sentences": sentences,
        },
        "kenlm": {
            **case(log_probs(0, 4), theirs, unigrams=["a", "b", "ab"], unk_score_offset=-2.0),
            "sentences": sentences,
        },
        "hhmm": case(log_probs(3, 5), {"hhmm": 10}, alpha=1.3),
        "pruned": {**case(noisy, ours), "search": ALL | {"beam_width": 12}},
        "no history": {**case(noisy, {"hhmm": 10}), "search": ALL | {"beam_width": 12, "prune_history": True}},
        "open": case(log_probs(4, 5), ours, score_boundary=False),
    } | {f"ngram {seed}": case(log_probs(seed, 6), ours) for seed in range(3)}
    path = tmp_path_factory.mktemp("cases") / "cases.json"
    return cases, dict(zip(cases, environment.decoded("pyctcdecode_cases", list(cases.values()), path), strict=True))


def scores(result):
    return {tuple(text.split()): score for text, _, score in result["beams"]}


def searched(of_case, model, **options):
    """{words: score} of our own search with the settings of the case."""
    settings = of_case["settings"]
    values = np.array(of_case["logits"])
    found = search(values, LABELS, BeamScorer(model), settings["alpha"], settings["beta"], **options)
    return {each.words: each.score(settings["alpha"], settings["beta"]) for each in found}


def test_pyctcdecode_sums_the_paths_that_we_sum(results):
    cases, decoded = results
    values = np.array(cases["silent"]["logits"])
    assert scores(decoded["silent"]) == pytest.approx(every_text(values, LABELS), abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_search_with_n_grams_inside_is_exact(results, arpa, seed):
    """Pyctcdecode's search, our own, and all texts scored whole have the same scores."""
    cases, decoded = results
    model = NgramLanguageModel(arpa)
    of_case, result = cases[f"ngram {seed}"], decoded[f"ngram {seed}"]
    wanted = searched(of_case, model)
    assert scores(result) == pytest.approx(wanted, abs=1e-6)
    values = np.array(of_case["logits"])
    plain = search(values, LABELS)
    second = rescored(plain, model.totals([each.words for each in plain]), 0.7, 0.4)
    assert tuple(result["beams"][0][0].split()) == second[0].words
    assert result["beams"][0][2] == pytest.approx(second[0].score(0.7, 0.4), abs=1e-6)
    assert result["order"] == model.order


def test_the_search_with_the_hhmm_inside_is_exact(results):
    cases, decoded = results
    assert scores(decoded["hhmm"]) == pytest.approx(searched(cases["hhmm"], HhmmLanguageModel(beam=10)), abs=1e-6)


def test_the_end_of_the_sentence_may_be_left_out(results, arpa):
    cases, decoded = results
    model = NgramLanguageModel(arpa)
    ends = {words: 0.7 * model.score([words])[0][-1] for words in searched(cases["open"], model)}
    wanted = {words: score - ends[words] for words, score in searched(cases["open"], model).items()}
    assert scores(decoded["open"]) == pytest.approx(wanted, abs=1e-6)


def test_pruned_searches_agree(results, arpa):
    cases, decoded = results
    wanted = searched(cases["pruned"], NgramLanguageModel(arpa), beam=12)
    assert list(scores(decoded["pruned"])) == list(wanted)
    assert scores(decoded["pruned"]) == pytest.approx(wanted, abs=1e-6)


def test_beams_that_the_model_tells_apart_are_kept(results):
    """Its order forbids pyctcdecode to take histories for one that share their last words."""
    cases, decoded = results
    wanted = searched(cases["no history"], HhmmLanguageModel(beam=10), beam=12)
    assert scores(decoded["no history"]) == pytest.approx(wanted, abs=1e-6)
    assert decoded["no history"]["order"] == sys.maxsize


def test_weights_mean_what_they_mean_with_kenlm_inside(results):
    """The scores of words, known and unknown, last and unfinished, are those of pyctcdecode's own KenLM model."""
    _, decoded = results
    np.testing.assert_allclose(decoded["unigrams"]["scores"], decoded["kenlm"]["scores"], atol=1e-5)
    assert decoded["unigrams"]["order"] == decoded["kenlm"]["order"]
    assert len(set(decoded["unigrams"]["scores"])) > 10


def test_the_code_on_the_page_runs(environment, tmp_path):
    (code,) = re.findall(r"```py\n(.*?)```", PAGE, re.S)
    (tmp_path / "code.py").write_text(code, encoding="utf-8")
    (tmp_path / "lm.arpa").write_bytes((ROOT / "example_nbest/mt/lm.arpa").read_bytes())
    (text,) = re.findall(r"print\(.*\)  # (.*)", code)
    assert environment.run("code.py", cwd=tmp_path).splitlines()[-1] == text
