"""Pipeline: objects do what the commands do, byte for byte, and every wrong call is one clear line."""

import copy
import inspect
import logging
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

from rerank_adapters import Pipeline, load, read_nbest
from rerank_adapters.job.models import all_plugins
from rerank_adapters.job.specs import Names, Spec
from rerank_adapters.metrics.bleu import Bleu
from rerank_adapters.tuners.mira import Mira
from rerank_adapters.weights import read_weights
from rerank_plugins import (
    ConfigError,
    FeatureExtractor,
    FeatureTable,
    FormatError,
    NBestList,
    PluginError,
    Tuner,
    TuningResult,
    option,
)
from rerank_plugins.lists.length import LengthFeature
from rerank_plugins.ngram.language_model import NgramLanguageModel
from tests.command_line import done

BLEU = "bleu,tokenize=none"


@dataclass
class Own(FeatureExtractor):
    """A feature that no plugin registers."""

    times: float = option(2.0, doc="factor")

    def extract(self, nbest):
        return np.array([[self.times * len(text)] for text in nbest.texts])


class OwnTuner(Tuner):
    """A tuner that no plugin registers."""

    def tune(self, data, start, rng, report=lambda step: None):
        return TuningResult(np.arange(len(start), dtype=float), 0.0)


@pytest.fixture(scope="module")
def lists(small):
    return read_nbest([small / "tune.nbest"], source=small / "tune.de")


@pytest.fixture(scope="module")
def test_lists(small):
    return read_nbest([small / "test.nbest"], source=small / "test.de")


@pytest.fixture(scope="module")
def references(small):
    return (small / "tune.en").read_text().splitlines()


@pytest.fixture(scope="module")
def fitted(lists, references, small):
    features = ["length", f"ngram-lm,model={small}/lm.arpa", "lexical-overlap"]
    return Pipeline(features, metric=BLEU, tuner="mira,passes=4", seed=2).fit(lists, references)


def test_it_does_what_the_commands_do(fitted, lists, test_lists, small, tmp_path):
    source = ("--source", small / "tune.de")
    features = [part for spec in fitted.features for part in ("-f", spec)]
    done(
        *("tune", small / "tune.nbest", *source, *features, "-r", small / "tune.en", "-m", BLEU, "-t", "mira,passes=4"),
        *("--seed", 2, "-o", tmp_path / "w.toml"),
    )
    assert dict(fitted.weights_.dense) == read_weights(tmp_path / "w.toml").dense
    apply = ("apply", small / "test.nbest", "--source", small / "test.de", "-w")
    best = [reranked.best for reranked in fitted.predict(test_lists)]
    assert done(*apply, tmp_path / "w.toml").lines == best
    fitted.save(tmp_path / "folder.toml")
    assert done(*apply, tmp_path / "folder.toml").lines == best
    for file in ("w.toml", "folder.toml"):
        loaded = Pipeline.load(tmp_path / file)
        assert [reranked.best for reranked in loaded.predict(test_lists)] == best
        assert (loaded.seed, loaded.tuner["use"]) == (2, "mira")
    again = Pipeline.load(tmp_path / "w.toml").fit(lists, small / "tune.en")
    assert dict(again.weights_.dense) == dict(fitted.weights_.dense)


def test_a_file_that_is_saved_in_another_folder_finds_its_models(fitted, test_lists, tmp_path):
    (tmp_path / "deep/er").mkdir(parents=True)
    for path in (tmp_path / "deep/er/w.toml", tmp_path / "x.toml"):
        fitted.save(path)
        fitted = Pipeline.load(path)
        assert fitted.predict(test_lists[:2])[0].best


def test_what_is_reranked(fitted, test_lists):
    for reranked, nbest in zip(fitted.predict(test_lists), test_lists, strict=True):
        scores = [hypothesis.score for hypothesis in reranked]
        assert scores == sorted(scores, reverse=True)
        assert reranked.scores == scores
        assert reranked.order == [hypothesis.row for hypothesis in reranked]
        assert reranked.texts == [nbest[row].text for row in reranked.order]
        assert (reranked.best, reranked.segment_id) == (reranked.texts[0], nbest.segment_id)
    first, second = repr(reranked).splitlines()[:2]
    assert first.startswith(f"Reranked {nbest.segment_id!r}: {len(nbest)} hypotheses")
    assert reranked.best in second


def test_orders_are_those_of_sums(fitted, test_lists):
    """Brute force: the table times the weights."""
    table = fitted.transform(test_lists)
    sums = table.values @ [fitted.weights_.dense[name] for name in table.names]
    for segment, reranked in enumerate(fitted.predict(test_lists)):
        scores = sums[table.offsets[segment] : table.offsets[segment + 1]]
        assert reranked.order == sorted(range(len(scores)), key=lambda row: (-round(scores[row], 9), row))


def test_the_same_for_any_jobs_with_and_without_cache_or_table(fitted, lists, test_lists, references, tmp_path):
    fitted.save(tmp_path / "first.toml")
    texts = [reranked.texts for reranked in fitted.predict(test_lists)]
    for number, (jobs, cache) in enumerate([(1, False), (3, True)]):
        other = Pipeline(**{**fitted.get_params(), "jobs": jobs, "cache": cache})
        table = other.transform(lists)
        assert np.array_equal(table.values, fitted.transform(lists).values)
        other.fit(lists, references, table=table if number else None)
        assert dict(other.weights_.dense) == dict(fitted.weights_.dense)
        assert [reranked.texts for reranked in other.predict(test_lists)] == texts
        assert [r.texts for r in other.predict(test_lists, table=other.transform(test_lists))] == texts
        assert [r.texts for r in other.predict_iter(iter(test_lists))] == texts


def test_a_table_says_which_features_it_has(fitted, lists, references, test_lists, tmp_path):
    table = fitted.transform(lists)
    table.save(tmp_path / "t.npz")
    by_table = Pipeline(metric=BLEU, tuner="mira,passes=4", seed=2).fit(
        lists, references, table=FeatureTable.load(tmp_path / "t.npz")
    )
    assert dict(by_table.weights_.dense) == dict(fitted.weights_.dense)
    assert by_table.predict(test_lists)[3].texts == fitted.predict(test_lists)[3].texts


def test_lists_come_one_by_one(fitted, test_lists):
    asked = []

    def stream():
        for nbest in test_lists[:3]:
            asked.append(nbest.segment_id)
            yield nbest

    assert next(fitted.predict_iter(stream())).segment_id == test_lists[0].segment_id


def test_references_in_every_form(lists, references, small):
    def weights(given):
        return dict(Pipeline("length", metric=BLEU, tuner="mira,passes=1").fit(lists, given).weights_.dense)

    by_id = {nbest.segment_id: text for nbest, text in zip(lists, references, strict=True)}
    wanted = weights(references)
    several = [[text] for text in references]
    assert weights(several) == weights(by_id) == weights(small / "tune.en") == weights(str(small / "tune.en")) == wanted
    assert weights([small / "tune.en"]) == weights({int(id_): [text] for id_, text in by_id.items()}) == wanted
    assert weights([small / "tune.en", small / "tune.en"]) == weights([[text, text] for text in references])
    one = dict(list(by_id.items())[1:])
    with pytest.raises(FormatError, match="references: segment '0' is not among them"):
        weights(one)


def test_objects_are_features_metrics_and_tuners(lists, references, test_lists, small, tmp_path):
    own = Own(3.0)
    model = load("ngram-lm", model=small / "lm.arpa")
    objects = Pipeline([own, LengthFeature(), model], metric=Bleu(tokenize="none"), tuner=Mira(passes=2))
    assert objects._job.feature("Own").extractor is own
    assert objects._job.feature("ngram-lm").extractor is model
    assert objects._job.measures[0].metric is objects.metric
    assert objects._job.tuner is objects.tuner
    named = Pipeline(["length", f"ngram-lm,model={small}/lm.arpa"], metric=BLEU, tuner="mira,passes=2")
    table = objects.transform(lists)
    assert table.values[:, table.names.index("Own")].tolist() == [3.0 * len(t) for n in lists for t in n.texts]
    same = [table.names.index(name) for name in named.transform(lists).names]
    assert np.array_equal(table.values[:, same], named.transform(lists).values)
    objects.fit(lists, references)
    objects.save(tmp_path / "w.toml")
    with pytest.raises(
        ConfigError, match=r"'Own' is an object of a class of your own: give it, as in .*objects=\[Own\(\)\]"
    ):
        Pipeline.load(tmp_path / "w.toml")
    for given in (own, [own], {"Own": own}):
        loaded = Pipeline.load(tmp_path / "w.toml", objects=given)
        assert loaded.predict(test_lists)[1].texts == objects.predict(test_lists)[1].texts
    assert Pipeline("length", tuner=OwnTuner()).fit(lists, references).weights_.dense["length"] > 0


def test_labels(lists):
    table = Pipeline({"short": Own(1.0), "long": Own(5.0), "len": "length"}).transform(lists[:2])
    assert {"short", "long", "len"} <= set(table.names)
    with pytest.raises(ConfigError, match="two features are called 'Own': name them"):
        Pipeline([Own(1.0), Own(5.0)])
    with pytest.raises(ConfigError, match="another feature has the label 'length'"):
        Pipeline(["length", "length"])


def test_models_in_use_are_shared_with_load(small):
    model = load("ngram-lm", model=small / "lm.arpa")
    assert Pipeline(f"ngram-lm,model={small}/lm.arpa")._job.feature("ngram-lm").extractor is model
    assert Pipeline(small / "lm.arpa")._job.feature("ngram-lm").extractor is model
    inside = Pipeline({"use": "slr", "lm": model})._job.feature("slr").extractor
    assert inside.lm is model


def test_tables_make_equal_plugins(small):
    registry = all_plugins()
    plugins = {
        "feature": [Own(), LengthFeature(), NgramLanguageModel(small / "lm.arpa")],
        "parser": [load("pcfg", "parser", k=3), load("english")],
        "metric": [load("chrf", word_order=2)],
        "tuner": [load("mert,restarts=3")],
        "language_model": [load("dependency-lm", parser="pcfg"), load("treelet-lm", k=2)],
    }
    for kind, several in plugins.items():
        for plugin in several:
            spec = Spec.of(kind, plugin, Names(registry))
            assert spec.is_object == isinstance(plugin, Own)
            assert spec.is_object or load(spec.table(), kind) == plugin


def test_text_steps_are_for_features_that_name_none(lists):
    def length(*features, **options):
        return Pipeline(list(features), **options).transform(lists[:1]).values[:, -1]

    plain = length("character-length")
    assert not np.array_equal(length("character-length", text="no-punctuation"), plain)
    assert np.array_equal(length("character-length", text="none"), plain)
    assert np.array_equal(length("character-length,text=lowercase", text="no-punctuation"), plain)


def test_scikit_learn_clones_it(fitted, lists, references):
    sklearn = pytest.importorskip("sklearn.base")
    clone = sklearn.clone(fitted)
    assert clone.get_params() == fitted.get_params()
    with pytest.raises(ConfigError, match="not fitted"):
        clone.weights_  # noqa: B018
    assert dict(clone.fit(lists, references).weights_.dense) == dict(fitted.weights_.dense)
    for refused in ({"seed": "x"}, {"seed": 7, "tunner": 1}, {"seed": 7, "tuner": "mirra"}):  # and nothing is changed
        with pytest.raises((ConfigError, PluginError)):
            clone.set_params(**refused)
        assert clone.get_params() == fitted.get_params()
        assert dict(clone.weights_.dense) == dict(fitted.weights_.dense)
    clone.set_params(seed=7)
    assert clone.seed == 7
    with pytest.raises(ConfigError, match="not fitted"):
        clone.predict(lists)
    own = sklearn.clone(Pipeline(Own(4.0)))
    assert own.features == Own(4.0)
    for copied in (copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))):
        assert copied.weights_ == fitted.weights_
        assert copied.predict(lists[:2])[1].texts == fitted.predict(lists[:2])[1].texts


def test_from_config(small, tmp_path, test_lists, references, lists):
    (tmp_path / "job.toml").write_text(
        f'seed = 3\njobs = 1\n[[feature]]\nuse = "lm"\n[[feature]]\nuse = "length"\n[language_model.lm]\nuse = "ngram-lm"\n'
        f'model = "{small}/lm.arpa"\n[[metric]]\nuse = "bleu"\ntokenize = "none"\n[tuner]\nuse = "mira"\npasses = 2\n'
        '[[system]]\nname = "no lm"\nwithout = ["lm"]\n'
    )
    whole, without = Pipeline.from_config(tmp_path / "job.toml"), Pipeline.from_config(tmp_path / "job.toml", "no lm")
    assert (whole.seed, whole.jobs) == (3, 1)
    assert [name for name in whole.transform(test_lists).names if name not in without.transform(test_lists).names] == [
        "lm.total", "lm.per_word", "lm.oovs",
    ]  # fmt: skip
    assert whole.fit(lists, references).predict(test_lists)[0].best
    with pytest.raises(ConfigError, match="no system named 'no-lm'; did you mean 'no lm'"):
        Pipeline.from_config(tmp_path / "job.toml", "no-lm")


def test_cross_validation(lists, references):
    result = Pipeline("length", metric=BLEU, tuner="mira,passes=2").cross_validate(lists, references, folds=3)
    assert next(row["name"] for row in result.table()) == "mira"
    assert result.folds == 3


def test_explanations(fitted, test_lists):
    reranked = next(r for r in fitted.predict(test_lists) if r.order[0] != 0)
    explanation = fitted.explain(reranked)
    assert explanation.first.text == reranked.best
    assert sum(c.lead for c in explanation.contributions) == pytest.approx(
        explanation.first.score - explanation.second.score
    )


LIST = NBestList.from_texts(["a b", "c"])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda p: Pipeline("lenght"), PluginError, "no feature named 'lenght'; did you mean 'length'?"),
        (lambda p: Pipeline("length,ordre=2"), ConfigError, "length has no option 'ordre'"),
        (lambda p: Pipeline("length", tuner="mirra"), PluginError, "did you mean 'mira'?"),
        (lambda p: Pipeline("length", metric="bleu,tokenise=none"), ConfigError, "did you mean 'tokenize'?"),
        (lambda p: Pipeline("length", text="lower"), ConfigError, "no text pipeline or step named 'lower'"),
        (lambda p: Pipeline("length", jobs=0), ConfigError, "jobs is 0, wanted a whole number of 1 or more"),
        (lambda p: Pipeline(Own), TypeError, "found the class Own: write Own()"),
        (lambda p: Pipeline([7]), TypeError, "wanted a feature, found 7"),
        (lambda p: Pipeline("length", tuner=Own()), TypeError, "wanted a tuner, found Own"),
        (lambda p: p.predict([LIST]), ConfigError, "this pipeline is not fitted: call fit(nbests, references), or"),
        (lambda p: p.predict_iter([LIST]), ConfigError, "this pipeline is not fitted"),
        (lambda p: p.tuning_, ConfigError, "this pipeline is not fitted"),
        (lambda p: p.save("w.toml"), ConfigError, "this pipeline is not fitted"),
        (lambda p: p.set_params(tunner=1), ConfigError, "a pipeline has no parameter 'tunner'; did you mean 'tuner'?"),
        (lambda p: Pipeline("length", seed="x"), ConfigError, "seed is 'x', wanted a whole number of 0 or more"),
        (lambda p: Pipeline("length", seed=-1), ConfigError, "seed is -1, wanted a whole number of 0 or more"),
        (lambda p: p.score([LIST], ["a"]), ConfigError, "this pipeline is not fitted"),
        (lambda p: p.transform(LIST), TypeError, "wanted a sequence of n-best lists, found a single one"),
        (lambda p: p.transform(NBestList("7", LIST.hypotheses)), TypeError, "n-best lists, found one of segment 7"),
        (lambda p: p.transform("a"), TypeError, "wanted a sequence of n-best lists, found 'a'"),
        (lambda p: p.transform([["a", "b"]]), TypeError, "wanted an NBestList"),
        (lambda p: p.transform([]), ConfigError, "wanted at least one n-best list, found none"),
        (lambda p: p.transform([NBestList("3", ())]), FormatError, "segment 3 has no hypotheses to choose from"),
        (lambda p: p.transform([NBestList("3", LIST.hypotheses)] * 2), ConfigError, "two lists are those of segment 3"),
        (lambda p: Pipeline("lexical-overlap").transform([LIST]), ConfigError, "lexical-overlap compares with the source"),
        (lambda p: p.fit([LIST], ["a", "b"]), FormatError, "2 references for 1 list"),
        (lambda p: p.fit([LIST], 7), TypeError, "references: wanted texts, files, or a mapping"),
        (lambda p: p.fit([LIST], [7]), TypeError, "references[0]: wanted a text, or a sequence of texts, found 7"),
        (lambda p: p.fit([LIST], [[]]), TypeError, "references[0]: wanted a text, or a sequence of texts, found []"),
        (lambda p: p.fit([LIST], "none.en"), FormatError, "'none.en': no such file of references; texts are a list"),
        (lambda p: p.fit([LIST], {"7": "a"}), FormatError, "references: segment '0' is not among them (1 segment: 7)"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(call, error, message):
    with pytest.raises(error) as raised:
        call(Pipeline("length"))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_weights_for_other_features(fitted, test_lists):
    other = [
        NBestList.from_texts(nbest.texts, source=nbest.source, segment_id=nbest.segment_id) for nbest in test_lists
    ]
    with pytest.raises(ConfigError, match=r"not the weights for these lists: segment 0: .*lacks feature"):
        fitted.predict(other)


def test_it_shows_itself_as_its_constructor_call(fitted):
    assert repr(Pipeline("length", seed=3)) == "Pipeline('length', seed=3)"
    assert repr(Pipeline()) == "Pipeline()"
    lines = repr(fitted.weights_).splitlines()
    assert lines[0] == f"Weights of {len(fitted.weights_.dense)} features"
    assert all(name in "\n".join(lines) for name in fitted.weights_.dense)


def test_it_prints_nothing(lists, references, test_lists, capfd, caplog, monkeypatch):
    caplog.set_level("INFO", "rerank_adapters")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("rerank_adapters.runtime.progress.CountingBar.delay", 0.0)
    pipeline = Pipeline(["length", "consensus"], cache=False, metric=BLEU).fit(lists, references)
    pipeline.predict(test_lists)
    assert capfd.readouterr() == ("", "")
    assert not logging.getLogger("rerank_adapters").handlers
    pipeline.transform(lists, progress=True)


def test_every_public_method_has_a_docstring():
    for name, member in inspect.getmembers(Pipeline):
        if not name.startswith("_"):
            assert inspect.getdoc(member)
