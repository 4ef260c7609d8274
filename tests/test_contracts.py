"""What plugins promise, checked over everything registered: a plugin without a case here makes a test fail."""

import re
from pathlib import Path

import numpy as np
import pytest

from rerank_adapters.builtin import BUILTIN
from rerank_adapters.job.specs import Names, Spec
from rerank_plugins import ConfigError, Metric
from rerank_plugins.core.constituency_tree import read_trees
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.core.plugins import KINDS
from rerank_plugins.dependency.parsers import EMBEDDED
from rerank_plugins.similarity import random_indexing_training as vector_training
from rerank_plugins.similarity.random_indexing import write_model as write_vectors
from rerank_plugins.similarity.random_indexing_training import train as train_vectors
from rerank_plugins.svs.model import write_model as write_svs
from rerank_plugins.testing import (
    SENTENCES,
    check_feature_extractor,
    check_format,
    check_incremental_lm,
    check_language_model,
    check_metric,
    check_parser,
    check_tuner,
)
from rerank_plugins.translation.alignment.model import write_model as write_alignment
from rerank_plugins.translation.alignment.training import Settings as AlignmentSettings
from rerank_plugins.translation.alignment.training import train as train_alignment
from rerank_plugins.translation.translation_memory import Settings as MemorySettings
from rerank_plugins.translation.translation_memory import train as train_memory
from rerank_plugins.translation.translation_memory import write_model as write_memory
from rerank_plugins.translation.word_lexicon import Settings as LexiconSettings
from rerank_plugins.translation.word_lexicon import train as train_lexicon
from rerank_plugins.translation.word_lexicon import write_model as write_lexicon
from rerank_plugins.treelet import headlex
from rerank_plugins.treelet.headlex import write_model as write_headlex
from tests.neural.loopback_servers import Behaviour, serving
from tests.neural.tiny_comet import write_comet
from tests.neural.tiny_models import MISSING, REASON, write_models
from tests.svs.naive_svs_parsing import random_model

ROOT = Path(__file__).resolve().parent.parent
ARPA = str(ROOT / "example_nbest" / "mt" / "lm.arpa")
GOLDEN = Path(__file__).parent / "golden" / "formats"
REFERENTIAL = {
    "world": str(ROOT / "example_nbest" / "referential" / "worlds" / "files.toml"),
    "grammar": str(ROOT / "example_nbest" / "referential" / "grammars" / "files.grammar"),
}
REGISTRY = load_plugins(BUILTIN, installed=False)
ENTRIES = [entry for kind in KINDS for entry in REGISTRY.entries[kind].values()]

# By kind and name: the options to check a plugin with, the defaults (or what is required) first.
CASES = {
    "feature": {
        "length": [{}],
        "character-length": [{}],
        "decoder-score": [{}],
        "reciprocal-rank": [{}],
        "oov-count": [{}, {"lm": "arpa"}],
        "language-model-ratio": [{"model": ARPA, "general": "unigram"}, {"lm": "arpa", "general_model": ARPA}],
        "slr": [{}, {"lm": "arpa", "unigram": "unigram"}, {"lm": "treelet-lm", "unigram": "arpa"}],
        "lexical-overlap": [{}, {"ignore_case": False}],
        "untranslated": [{}, {"ignore_case": False, "names": False}, {"lm": "arpa"}],
        "comet": [{"model": "qe"}, {"model": "kiwi", "dtype": "float64"}],
        "column": [{"file": "scores.txt"}, {"file": "two.txt", "names": ["a", "b"]}],
        "expected-utility": [{"samples": "samples.nbest"}, {"samples": "samples.nbest", "metric": "bleu"}],
        "word-lexicon": [{"model": "micro.lexicon"}],
        "word-translation": [
            {"model": "micro.align"},
            {"model": "micro.align", "bound": 0.5},
        ],
        "consensus": [
            {},
            {"posterior": "rank"},
            {"posterior": "spread", "scale": 2.0},
            {"posterior": "uniform"},
        ],
        "neural-translation": [{"model": "t5"}, {"reverse_model": "t5", "dtype": "float64"}],
        "translation-memory": [{"model": "micro.memory"}, {"model": "micro.memory", "nearest": 1, "combine": "mean"}],
        "word-posteriors": [{}, {"posterior": "rank", "scale": 2.0}, {"posterior": "uniform"}],
        "random-indexing": [
            {"model": "micro.ri"},
            {"model": "micro.ri", "space": "positional", "weight": "sif", "to": ["context", "list", "source"]},
            {"model": "micro.ri", "to": ["file"], "file": "lines.txt", "back": 1},
        ],
        "svs-similarity": [
            {},
            {"model": "micro.svs", "threshold": 0.0, "longest": 5, "to": ["context", "list", "source"]},
            {"measures": ["meaning"]},
            {
                "measures": ["phrase", "meaning"],
                "model": "micro.svs",
                "concepts": "micro.svs",
                "to": ["source", "list"],
            },
        ],
        "meaning-in-context": [
            {},
            {"measures": ["least", "gain"], "longest": 4, "unknown_types": 1000},
        ],
    },
    "language_model": {
        "ngram-lm": [{"model": ARPA}],
        "unigram": [{}, {"model": ARPA, "case": "exact"}, {"case": "ignore"}],
        "pcfg": [{}],
        "dependency-lm": [{}, {"parser": "english"}],
        "hhmm-lm": [{"beam": 50}, {"beam": 5, "depth": 2, "threshold": 1e-3}],
        "treelet-lm": [{}, {"k": 1, "parser": "pcfg"}],
        "headlex": [{"model": "micro.headlex"}],
        "referential-lm": [
            REFERENTIAL,
            {**REFERENTIAL, "semantics": "trigram", "depth": 4},
            {**REFERENTIAL, "semantics": "none", "inference": "viterbi", "beam": 5, "description": "sizes"},
        ],
        "neural-causal": [{"model": "gpt2"}, {"model": "gpt2", "share_prefixes": False, "dtype": "float64"}],
        "neural-masked": [{"model": "bert"}, {"model": "bert", "whole_words": True, "dtype": "float64"}],
        "llm": [{"model": "m"}, {"model": "m", "prompt": "x\\n", "end": ""}],
        "mixture": [{"models": ["arpa", "ngram-arpa"], "weights": [0.25, 0.75]}],
    },
    "parser": {
        "english": [{}],
        "biaffine": [{"model": str(EMBEDDED), "language": "en"}],
        "stanza": [
            {"tagger": "tagger.pt", "parser": "parser.pt"},
            {"tagger": "tagger.pt", "constituency": "constituency.pt", "vectors": "vectors.pt"},
        ],
        "hhmm": [{"beam": 50}, {"beam": 5, "depth": 2, "language": "en"}],
        "pcfg": [{}, {"decoder": "viterbi", "k": 3}, {"k": 20, "threshold": 0.0, "longest": 2}],
        "svs": [
            {"model": "micro.svs"},
            {"model": "micro.svs", "decoder": "vector", "threshold": 0.0, "longest": 2},
        ],
        "treebank": [{"path": "trees.conllu"}, {"path": "trees.ptb"}, {"path": "k-best", "second": "trees.conllu"}],
    },
    "metric": {
        "bleu": [
            {},
            {"tokenize": "none", "lowercase": True},
            {"tokenize": "char", "sentence": "bleu+1-length"},
            {"sentence": "sacrebleu"},
        ],
        "chrf": [{}, {"char_order": 3, "beta": 1, "whitespace": True}, {"eps_smoothing": True, "lowercase": True}],
        "chrf++": [{}, {"word_order": 1}],
        "ter": [{}, {"normalized": True, "no_punct": True, "case_sensitive": True}, {"asian_support": True}],
        "wer": [{}, {"lowercase": True}, {"costs": "sclite"}],
        "cer": [{}, {"whitespace": False}],
        "accuracy": [{}, {"lowercase": True}],
        "mean": [{"metrics": ["bleu", "ter"]}, {"metrics": ["chrf"]}, {"metrics": ["ter", "chrf"], "weights": [1, 2]}],
        "ser": [{}, {"lowercase": True}],
        "comet": [{"model": "comet"}, {"model": "qe", "scale": 1.0}],
        "column": [{"file": "pairs.tsv"}, {"file": "pairs.tsv", "scale": 100.0}],
    },
    "tuner": {
        "mert": [{"restarts": 2}, {"restarts": 2, "directions": 2, "average_restarts": True}],
        "grid": [{"axes": ["noise=0:1:3"]}, {"axes": ["noise=0,1", "telling=-1:1:3"]}],
        "pro": [{"rounds": 3}, {"rounds": 2}],
        "mira": [{}, {"restarts": 2}],
        "expected-risk": [{}, {"target": "sentence"}],
        "mbr": [{}, {"evidence": 4}],
    },
    "trainer": {
        "ngram": [{}],
        "dependency-lm": [{}],
        "dependency-parser": [{"language": "en"}],
        "treebank": [{}],
        "treelet-lm": [{}],
        "grammar": [{"language": "en"}],
        "hhmm": [{"language": "en"}],
        "svs": [{"language": "en"}],
        "svs-concepts": [{"language": "en"}],
        "word-alignment": [{}],
        "missing-words": [{}],
        "word-lexicon": [{}],
        "translation-memory": [{}],
        "random-indexing": [{}],
        "esa": [{}],
        "word-classes": [{}],
    },
    "format": {
        "moses": ["moses.nbest", "moses_old.nbest", "moses_sparse.nbest"],
        "cdec": ["cdec.nbest"],
        "joshua": ["joshua.nbest", "joshua_old.nbest"],
        "travatar": ["travatar.nbest"],
        "marian": ["marian.nbest"],
        "fairseq": ["fairseq.out"],
        "hyporadise": ["hyporadise.jsonl"],
        "plain": ["plain.txt"],
        "sockeye": ["sockeye.jsonl"],
        "ctranslate2": ["ctranslate2.jsonl"],
        "transformers": ["transformers.jsonl", "transformers_pipeline.jsonl"],
        "completions": ["completions.jsonl"],
        "json": ["json.jsonl"],
        "rows": ["rows.csv", "rows.tsv", "rows.jsonl"],
        "kaldi": ["kaldi.text"],
        "srilm": ["srilm.nbest", "srilm1.nbest"],
        "julius": ["julius.out"],
        "espnet": ["espnet.text"],
        "whisper": ["whisper.jsonl"],
        "nemo": ["nemo.tsv"],
        "icefall": ["icefall.txt"],
        "wenet": ["wenet.txt"],
        "alternatives": ["alternatives.jsonl"],
        "kaldi-lattice": ["kaldi.lat"],
        "htk-slf": ["htk.slf"],
    },
}
FORMAT_OPTIONS = {"nemo": {"beam": 2}, "plain": {"n": 2}}  # what the golden file of a format needs
TREES = """\
1\tthe\tthe\tDET\t_\t_\t2\tdet\t_\t_
2\tcat\tcat\tNOUN\t_\t_\t3\tnsubj\t_\t_
3\tsat\tsit\tVERB\t_\t_\t0\troot\t_\t_

1\ta\ta\tDET\t_\t_\t2\tdet\t_\t_
2\tdog\tdog\tNOUN\t_\t_\t0\troot\t_\t_

"""

BRACKETS = "(ROOT (S (NP (DT the) (NN cat)) (VP (VBD sat))))\n( (NP (DT a) (NN dog)) )\n"
K_BEST = "1 ||| (X (A the) (B cat) (C sat)) ||| -1\n1 ||| (X (Y (A the) (B cat)) (C sat)) ||| -2\n"


def cases(kind: str) -> list[object]:
    """Each registered plugin of a kind with each of its cases; one without any stands alone, and its test fails."""
    names = REGISTRY.entries[kind]
    return [
        pytest.param(name, case, id=f"{name}-{number}")
        for name in names
        for number, case in enumerate(CASES[kind].get(name) or [None])
    ]


def built(kind: str, name: str, options: dict[str, object] | None, base: Path = ROOT):
    assert options is not None, f"{kind} {name!r} is registered, but has no case in {Path(__file__).name}"
    files = {"arpa": {"use": "ngram-lm", "model": ARPA}, "ngram-arpa": {"use": "ngram-lm", "model": ARPA}}
    named = {"language_model": files}
    return Spec.read(kind, {"use": name, **options}, Names(REGISTRY, base, named)).make()


def test_every_case_is_of_something_registered():
    assert set(CASES) == set(KINDS)
    for kind, known in CASES.items():
        assert set(known) == set(REGISTRY.entries[kind])


def neural(kind: str, name: str, options: dict[str, object], folder: Path):
    """A plugin by a tiny transformers model; the test skips where transformers is not installed."""
    if MISSING:
        pytest.skip(REASON)
    write_models(folder, {str(value) for option, value in options.items() if option.endswith("model")})
    return built(kind, name, options, folder)


ESTIMATORS = {"comet": "regression_metric", "qe": "referenceless_regression_metric", "kiwi": "unified_metric"}


def comet(kind: str, options: dict[str, object], folder: Path):
    """A plugin by a tiny estimator; the test skips where transformers is not installed."""
    if MISSING:
        pytest.skip(REASON)
    write_comet(folder / str(options["model"]), ESTIMATORS[str(options["model"])])
    return built(kind, "comet", options, folder)


@pytest.mark.parametrize(("name", "options"), cases("feature"))
def test_features(name, options, tmp_path):
    if name == "random-indexing":
        write_vectors(
            train_vectors([("text", SENTENCES)], vector_training.Settings(min_count=1)), tmp_path / "micro.ri"
        )
        (tmp_path / "lines.txt").write_text("a cat\n\nthe dog\n", encoding="utf-8")
        check_feature_extractor(built("feature", name, options, tmp_path))
        return
    if name == "neural-translation":
        check_feature_extractor(neural("feature", name, options, tmp_path), tolerance=1e-3)
        return
    if name == "comet":
        check_feature_extractor(comet("feature", options, tmp_path), tolerance=1e-4)
        return
    if name == "column":
        (tmp_path / "scores.txt").write_text("-0.5\n" * (len(SENTENCES) + 1), encoding="utf-8")
        (tmp_path / "two.txt").write_text("".join(f"{row} 1e-3\n" for row in range(20)), encoding="utf-8")
        check_feature_extractor(built("feature", name, options, tmp_path))
        return
    if name == "expected-utility":
        samples = [
            f"{segment} ||| {text} ||| F= 1 ||| 1\n" for segment in (0, 1) for text in ("a cat", "", "a cat", "a")
        ]
        (tmp_path / "samples.nbest").write_text("".join(samples), encoding="utf-8")
        check_feature_extractor(built("feature", name, options, tmp_path))
        return
    if name == "word-lexicon":
        pairs = [("das ist eine Katze", text) for text in SENTENCES if text.strip()]
        write_lexicon(train_lexicon(pairs, LexiconSettings(source_count=1, target_count=1)), tmp_path / "micro.lexicon")
        check_feature_extractor(built("feature", name, options, tmp_path))
        return
    if name == "word-translation":
        pairs = [("der Hund lief", "the dog ran"), ("eine Katze", "a cat"), ("der Satz", "the sentence")]
        write_alignment(train_alignment(pairs, AlignmentSettings(iterations=2)), tmp_path / "micro.align")
        check_feature_extractor(built("feature", name, options, tmp_path))
        return
    if name == "translation-memory":
        pairs = [("das ist eine Katze", text) for text in SENTENCES if text.strip()]
        write_memory(train_memory(pairs, MemorySettings()), tmp_path / "micro.memory")
        check_feature_extractor(built("feature", name, options, tmp_path))
        return
    if name == "svs-similarity":
        write_svs(random_model(1, concepts=3), tmp_path / "micro.svs")
        check_feature_extractor(built("feature", name, options, tmp_path))
        return
    check_feature_extractor(built("feature", name, options))


@pytest.mark.parametrize(("name", "options"), cases("language_model"))
def test_language_models(name, options, tmp_path):
    if name.startswith("neural-"):
        model = neural("language_model", name, options, tmp_path)
        check_language_model(model)
        check_feature_extractor(model, tolerance=1e-3)
        return
    if name == "llm":
        with serving(Behaviour()) as url:
            model = built("language_model", name, {**options, "url": url})
            check_language_model(model)
            check_feature_extractor(model)
        return
    if name == "headlex":
        settings = headlex.Settings()
        micro = headlex.train(headlex.collect(read_trees(BRACKETS.splitlines())), settings)
        write_headlex(micro, tmp_path / "micro.headlex")
    model = built("language_model", name, options, tmp_path if name == "headlex" else ROOT)
    check_language_model(model)
    check_feature_extractor(model)


def test_incremental_language_models():
    """Whatever has the three methods is checked, so a new incremental model cannot be forgotten."""
    steps = ("start", "advance", "finish")
    made = {
        name: built("language_model", name, case)
        for name, known in CASES["language_model"].items()
        for case in known[:1]
    }
    incremental = {name: model for name, model in made.items() if all(hasattr(model, step) for step in steps)}
    assert incremental.keys() >= {"ngram-lm", "hhmm-lm", "mixture"}
    for model in incremental.values():
        check_incremental_lm(model, [["we", "took", "a", "taxi"]])


SLOW = {"stanza"}  # its models are trained first: see dependency/test_stanza_parser.py


@pytest.mark.parametrize(("name", "options"), [case for case in cases("parser") if case.values[0] not in SLOW])
def test_parsers(name, options, tmp_path):
    (tmp_path / "trees.conllu").write_text(TREES, encoding="utf-8")
    (tmp_path / "trees.ptb").write_text(BRACKETS, encoding="utf-8")
    (tmp_path / "k-best").write_text(K_BEST, encoding="utf-8")
    write_svs(random_model(1, concepts=3), tmp_path / "micro.svs")
    sentences = [("the", "cat", "sat"), ("a", "dog"), ("unknown", "words"), ()]
    parser = built("parser", name, options, tmp_path)
    check_parser(parser, sentences)
    assert not parser.parse(sentences[:1])[0].is_empty


@pytest.mark.parametrize(("name", "options"), cases("metric"))
def test_metrics(name, options, tmp_path):
    if name == "comet":  # with weights that nobody has trained, a reference need not be the best; see test_comet
        metric = comet("metric", options, tmp_path).with_sources(["ein Satz"])
        texts = [text for text in SENTENCES if text]
        np.testing.assert_allclose(metric.pairwise(texts), Metric.pairwise(metric, texts), 1e-4, 1e-4)
        return
    if name == "column":
        pairs = [f"{one}\t{two}\t{-abs(len(one) - len(two))}\n" for one in SENTENCES for two in SENTENCES]
        (tmp_path / "pairs.tsv").write_text("".join(pairs), encoding="utf-8")
        check_metric(built("metric", name, options, tmp_path))
        return
    check_metric(built("metric", name, options))


@pytest.mark.parametrize("metric", ["bleu", "ter"])
@pytest.mark.parametrize(("name", "options"), cases("tuner"))
def test_tuners(name, options, metric):
    check_tuner(built("tuner", name, options), built("metric", metric, CASES["metric"][metric][0]))


@pytest.mark.parametrize(("name", "file"), cases("format"))
def test_formats(name, file):
    assert file is not None, f"format {name!r} is registered, but has no case in {Path(__file__).name}"
    text = (GOLDEN / file).read_bytes().decode()
    check_format(built("format", name, FORMAT_OPTIONS.get(name, {})), text)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.kind}-{entry.name}")
def test_every_plugin_and_option_is_described(entry):
    assert re.fullmatch(r"[a-z][a-z0-9+-]*", entry.name), "names are lower-case words joined by hyphens"
    assert 20 <= len(entry.summary) <= 120, entry.summary
    assert entry.summary.endswith(".")
    for option in entry.options():
        assert option.doc, f"{entry.name}.{option.name} has no description"
        assert "\n" not in option.doc


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.kind}-{entry.name}")
def test_every_default_is_a_value_that_a_config_may_give(entry):
    required = CASES[entry.kind][entry.name][0] if entry.kind != "format" else {}
    for option in entry.options():
        plain = isinstance(option.default, str | int | float | bool | list)
        if not option.required and plain:
            built(entry.kind, entry.name, {**required, option.name: option.default})


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.kind}-{entry.name}")
def test_unknown_options_are_refused_with_the_close_match(entry):
    required = CASES[entry.kind][entry.name][0] if entry.kind != "format" else {}
    with pytest.raises(ConfigError, match=f"{re.escape(entry.name)} has no option 'nonesuch_'"):
        built(entry.kind, entry.name, {**required, "nonesuch_": 1})


def break_promise(monkeypatch, plugin, method, change):
    kind = type(plugin)
    before = getattr(kind, method)
    monkeypatch.setattr(kind, method, lambda self, *given: change(before(self, *given)))


def test_the_checks_see_what_is_wrong(monkeypatch):
    """A check that never fails would be none: some built-ins with a fault put in."""
    length = built("feature", "length", {})
    break_promise(monkeypatch, length, "extract", lambda values: values * float("nan"))
    with pytest.raises(AssertionError, match="finite"):
        check_feature_extractor(length)
    wer = built("metric", "wer", {})
    break_promise(monkeypatch, wer, "sentence_scores", lambda scores: -scores)
    with pytest.raises(AssertionError, match="beaten"):
        check_metric(wer)
    monkeypatch.undo()
    monkeypatch.setattr("rerank_adapters.metrics.edit_rate.check_texts", lambda hypotheses, references: None)
    with pytest.raises(AssertionError, match="a text in place of a list of texts"):
        check_metric(built("metric", "wer", {}))
    monkeypatch.undo()
    model = built("language_model", "ngram-lm", {"model": ARPA})
    break_promise(monkeypatch, model, "finish", lambda value: value - 1.0)
    with pytest.raises(AssertionError, match="steps sum to"):
        check_incremental_lm(model)
    break_promise(monkeypatch, model, "score", lambda scores: [values / 2.302585 for values in scores][::-1])
    with pytest.raises(AssertionError, match="values, wanted"):
        check_language_model(model)
    moses = built("format", "moses", {})
    break_promise(monkeypatch, moses, "write", lambda lines: (line.replace("  ", " ") for line in lines))
    with pytest.raises(AssertionError, match="changed the text"):
        check_format(moses, "0 |||  a ||| LM= 1 ||| 2\n")
