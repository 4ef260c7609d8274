"""COMET estimators: values against a slow twin, calls of the encoder, the metric, MBR, the feature, and refusals."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import rerank_adapters
from rerank_adapters.applications.mbr import mbr
from rerank_adapters.builtin import BUILTIN
from rerank_adapters.job.specs import Names, Spec
from rerank_plugins import ConfigError, FormatError, Hypothesis, ModelError, NBestList, RerankError
from rerank_plugins.core.identity import describe
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.neural.comet_checkpoint import open_estimator
from rerank_plugins.testing import check_feature_extractor
from tests.neural.comet_reference import SCORES, cases
from tests.neural.naive_comet import Naive
from tests.neural.tiny_comet import HYPOTHESES, REFERENCES, SOURCES, VARIANTS, hparams, write_comet
from tests.neural.tiny_models import build, needs_transformers

pytestmark = needs_transformers


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("comet")
    for name, kind in (("comet", "regression"), ("qe", "referenceless_regression"), ("kiwi", "unified")):
        write_comet(folder / name, f"{kind}_metric")
    return folder


def metric(folder, **options):
    return build("metric", "comet", model=folder, scale=1.0, **options)


@pytest.mark.parametrize("kind", ["regression_metric", "referenceless_regression_metric"])
@pytest.mark.parametrize("changed", VARIANTS, ids=str)
def test_values_are_those_of_one_triple_at_a_time(kind, changed, tmp_path):
    naive = Naive(tmp_path, write_comet(tmp_path, kind, **changed))
    own = metric(tmp_path, batch_tokens=40)
    groups, sources = [HYPOTHESES, HYPOTHESES[:2]], SOURCES[:2]
    rows = own.with_sources(sources).statistics(groups, [REFERENCES, REFERENCES[:1]])
    wanted = [
        np.mean([naive.score(text, source, reference) for reference in references])
        for texts, source, references in zip(groups, sources, [REFERENCES, REFERENCES[:1]], strict=True)
        for text in texts
    ]
    np.testing.assert_allclose(rows, np.column_stack([wanted, np.ones(8)]), atol=1e-9)
    assert np.ptp(wanted) > 0.01
    table = own.with_sources(SOURCES[:1]).pairwise(HYPOTHESES)
    wanted = [[naive.score(one, SOURCES[0], other) for other in HYPOTHESES] for one in HYPOTHESES]
    np.testing.assert_allclose(table, wanted, atol=1e-9)


@pytest.mark.parametrize("number", range(len(cases())))
def test_values_are_those_of_unbabel_comet(number, tmp_path):
    """In single precision, by `comet_reference`."""
    kind, changed = cases()[number]
    write_comet(tmp_path, kind, **changed)
    lines = [line.split("\t") for line in SCORES.read_text(encoding="utf-8").splitlines()]
    rows = [[int(place) for place in line[1:4]] for line in lines if line[0] == str(number)]
    wanted = [float(line[4]) for line in lines if line[0] == str(number)]
    texts = zip(*((HYPOTHESES[h], SOURCES[s], REFERENCES[r]) for h, s, r in rows), strict=True)
    found = open_estimator(tmp_path, None, "cpu", "float32").scores(*texts, 500)
    assert len(wanted) == 12
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_values_of_the_unified_estimator(folders):
    naive = Naive(folders / "kiwi", hparams("unified_metric"))
    nbests = [NBestList(str(n), tuple(map(Hypothesis, HYPOTHESES[n:])), source=SOURCES[n]) for n in (0, 1)]
    values = build("feature", "comet", model=folders / "kiwi", batch_tokens=50).extract_all(nbests)
    for nbest, of_list in zip(nbests, values, strict=True):
        wanted = [naive.score(text, nbest.source) for text in nbest.texts]
        np.testing.assert_allclose(of_list[:, 0], wanted, atol=1e-9)
        assert np.ptp(wanted) > 0.01


def test_the_encoder_reads_each_distinct_text_once(folders):
    own = metric(folders / "comet").with_sources(SOURCES[:1])
    estimator = open_estimator(folders / "comet", None, "cpu", "float64")
    estimator.forget()
    before = estimator.read
    texts = [f"the cat sat {'on ' * n}" for n in range(20)]
    table = own.pairwise(texts)
    assert table.shape == (20, 20)
    assert estimator.read - before == 21  # the hypotheses and the source, for 400 pairs
    own.statistics([texts], [[texts[3], "a dog"]])
    assert estimator.read - before == 22  # the others are remembered


def test_contracts(folders):
    check_feature_extractor(build("feature", "comet", model=folders / "qe"), tolerance=1e-9)
    check_feature_extractor(build("feature", "comet", model=folders / "kiwi"), tolerance=1e-9)
    own = metric(folders / "comet")
    again = pickle.loads(pickle.dumps(own))
    assert (again, describe(again)) == (own, describe(own))
    assert own.signature().startswith("model:comet|sha256:")
    assert own.statistics([], []).shape == (0, 2)
    np.testing.assert_allclose(own.score(np.array([[3.0, 2.0], [0.0, 0.0]])), [1.5, 0.0])


def test_tuning_evaluating_and_mbr(folders):
    pairs = [(text, SOURCES[n % 4], REFERENCES[n % 2]) for n, text in enumerate(HYPOTHESES * 3)]
    nbests = [
        NBestList(
            str(n), tuple(Hypothesis(t, score=float(k)) for k, t in enumerate((text, "a dog ran"))), source=source
        )
        for n, (text, source, _) in enumerate(pairs)
    ]
    references = [reference for *_, reference in pairs]
    own = metric(folders / "comet")
    scores = own.with_sources([n.source for n in nbests]).statistics(
        [n.texts for n in nbests], [[r] for r in references]
    )
    result = rerank_adapters.evaluate(
        {"first": [n.texts[0] for n in nbests]}, references, metrics=own, nbests=nbests
    ).metrics[0]
    assert result.systems[0].score == pytest.approx(scores[::2, 0].mean())
    assert result.oracle.best == pytest.approx(scores[:, 0].reshape(-1, 2).max(axis=1).mean())
    pipeline = rerank_adapters.Pipeline(["length"], tuner="mira", metric=own).fit(nbests, references)
    assert len(pipeline.predict(nbests)) == len(nbests)
    table = own.with_sources([nbests[0].source]).pairwise(nbests[0].texts)
    assert mbr(nbests[:1], own)["utility"][0] == pytest.approx(table.mean(axis=1).max())


def test_expected_utility(folders, tmp_path):
    (tmp_path / "samples").write_text("0 ||| a dog ||| ||| 1\n0 ||| the cat ||| ||| 1\n0 ||| a dog ||| ||| 1\n")
    own = {"use": "comet", "model": str(folders / "comet"), "dtype": "float64"}
    feature = Spec.read(
        "feature",
        {"use": "expected-utility", "samples": tmp_path / "samples", "utility": own},
        Names(load_plugins(BUILTIN, installed=False)),
    ).make()
    nbest = NBestList("0", tuple(map(Hypothesis, HYPOTHESES)), source=SOURCES[0])
    values = feature.extract(nbest)[:, 0]
    statistics = feature.utility.with_sources(SOURCES[:1]).statistics([HYPOTHESES], [["a dog", "the cat", "a dog"]])
    np.testing.assert_allclose(values, statistics[:, 0])


def test_half_precision_is_close(folders):
    exact, half = (
        metric(folders / "comet", dtype=dtype).with_sources(SOURCES[:1]) for dtype in ("float32", "bfloat16")
    )
    np.testing.assert_allclose(half.pairwise(HYPOTHESES), exact.pairwise(HYPOTHESES), atol=0.3)


def test_long_texts_are_cut(folders):
    long = ["the cat sat " * 40, "the cat sat " * 50]
    table = metric(folders / "comet").with_sources(long[:1]).pairwise(long)
    assert np.ptp(table) == 0
    nbest = NBestList("0", tuple(map(Hypothesis, long)), source=long[0])
    assert np.isfinite(build("feature", "comet", model=folders / "kiwi").extract(nbest)).all()


def test_what_is_missing_is_said(folders):
    with pytest.raises(ConfigError, match="comet: there are no source sentences, which the estimator reads"):
        metric(folders / "comet").statistics([["a"]], [["b"]])
    with pytest.raises(ConfigError, match="segment 2 has no source"):
        metric(folders / "comet").with_sources(["a", None]).statistics([["a"], ["b"]], [["b"], ["b"]])
    with pytest.raises(ConfigError, match="segment 7 has no source sentence"):
        build("feature", "comet", model=folders / "qe").extract(NBestList("7", (Hypothesis("a"),)))
    with pytest.raises(ConfigError, match="an estimator that reads references is no feature"):
        build("feature", "comet", model=folders / "comet").extract(NBestList("7", (Hypothesis("a"),), source="b"))
    with pytest.raises(ConfigError, match="'cuda:77' cannot be used"):
        metric(folders / "comet", device="cuda:77").with_sources(["a"]).pairwise(["a"])


def damaged(name, value):
    def change(folder):
        import torch

        path = folder / "checkpoints" / "model.ckpt"
        found = torch.load(path, weights_only=True)
        if value is None:
            del found["state_dict"][name]
        else:
            found["state_dict"][name] = torch.zeros(value)
        torch.save(found, path)

    return change


def replaced(old, new):
    def change(folder):
        path = folder / "hparams.yaml"
        path.write_text(path.read_text().replace(old, new))

    return change


def unsafe(folder):
    with (folder / "checkpoints" / "model.ckpt").open("wb") as stream:
        pickle.dump({"state_dict": {"encoder.model.x": Path("x")}}, stream)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "hparams.yaml").unlink(), "hparams.yaml: cannot be read"),
        (lambda folder: (folder / "checkpoints" / "model.ckpt").unlink(), "model.ckpt: there is no such file"),
        (lambda folder: (folder / "encoder" / "config.json").unlink(), "no config.json; set 'encoder' to the folder of xlm-rob"),
        (lambda folder: (folder / "encoder" / "config.json").write_text("{"), "not an encoder that transformers can read"),
        (replaced("XLM-RoBERTa", "BERT"), "an encoder of the type xlm-roberta, wanted bert"),
        (replaced("regression_metric", "xcomet_metric"), "class_identifier: .*'regression_metric'.*found 'xcomet_metric'"),
        (replaced("layer: mix", "layer: 9"), "the layer 9 of 4"),
        (replaced("- 6\n", ""), "not the weights estimator.ff.* of this estimator"),
        (replaced("- 6\n", "- 6\n- 1\n"), "not the weights estimator.ff.* of this estimator"),
        (damaged("encoder.model.encoder.layer.0.output.dense.weight", None), 'Missing key.*"encoder.layer.0.output.dense.weight"'),
        (damaged("encoder.model.more", (2,)), 'Unexpected key.*"more"'),
        (damaged("encoder.model.embeddings.word_embeddings.weight", (9, 16)), "not the weights encoder.model.* of this estimator: .*word_embeddings"),
        (damaged("layerwise_attention.gamma", None), 'not the weights layerwise_attention.*"gamma"'),
        (damaged("layerwise_attention.scalar_parameters.4", (1,)), 'not the weights layerwise_attention.*"scalar_parameters.4"'),
        (damaged("estimator.ff.9.weight", (1, 1)), 'not the weights estimator.ff.*"9.weight"'),
        (damaged("adapter.weight", (1, 1)), "the weight adapter.weight is of no known part"),
        (unsafe, "cannot be loaded as weights alone"),
    ],
    ids=range(17),
)  # fmt: skip
def test_other_checkpoints_are_refused_in_one_line(change, message, tmp_path):
    write_comet(tmp_path, "regression_metric")
    change(tmp_path)
    with pytest.raises((ModelError, FormatError), match=message) as raised:
        metric(tmp_path).with_sources(["a"]).pairwise(["a"])
    assert isinstance(raised.value, RerankError)
    assert "\n" not in str(raised.value)
