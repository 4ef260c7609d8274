"""What needs no torch: the settings in hparams.yaml, sparsemax, and errors before an estimator is opened."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_plugins import ConfigError, FormatError, Hypothesis, ModelError, NBestList
from rerank_plugins.neural.comet_checkpoint import softmax, sparsemax
from rerank_plugins.neural.comet_settings import CometSettings, read_settings
from tests.neural import naive_comet
from tests.neural.tiny_comet import as_yaml, hparams
from tests.neural.tiny_models import build

PUBLISHED = """nr_frozen_epochs: 0.3
keep_embeddings_frozen: true
# a comment
encoder_model: 'XLM-RoBERTa'
pretrained_model: xlm-roberta-large
pool: avg
layer: mix
dropout: 0.15
class_identifier: referenceless_regression_metric
cross_entropy:
  minor: 1
  major: [2]
train_data:
  - data/a.csv
hidden_sizes: [2048, "1024"]
activations: Tanh
load_weights_from_checkpoint: null
"""


def settings(path, text) -> CometSettings:
    (path / "hparams.yaml").write_text(text, encoding="utf-8")
    return read_settings(path / "hparams.yaml")


def test_settings(tmp_path):
    found = settings(tmp_path, PUBLISHED)
    assert found == CometSettings(
        class_identifier="referenceless_regression_metric", encoder_model="XLM-RoBERTa",
        pretrained_model="xlm-roberta-large", layer="mix", layer_transformation="softmax", layer_norm=True, pool="avg",
        hidden_sizes=(2048, 1024), activations="Tanh",
    )  # fmt: skip
    assert not found.reads_reference
    unified = settings(tmp_path, as_yaml(hparams("unified_metric", sent_layer=3, final_activation="Sigmoid")))
    assert (unified.layer, unified.pool, unified.final_activation) == (3, "cls", "Sigmoid")
    plain = hparams("unified_metric")
    del plain["layer_transformation"]
    assert settings(tmp_path, as_yaml(plain)).layer_transformation == "sparsemax"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("class_identifier: ", "class: ", "class_identifier: Field required"),
        ("referenceless_regression", "xcomet", "class_identifier: .*'regression_metric'.*, found 'xcomet_metric'"),
        ("XLM-RoBERTa", "GPT", "encoder_model: .*'BERT'.*, found 'GPT'"),
        ("pool: avg", "pool: default", "pool: .*'avg', 'cls' or 'max', found 'default'"),
        ("pool: avg", "", "pool: Field required"),
        ("pool: avg", "pool: avg\nlayer_norm: maybe", "layer_norm: .*, found 'maybe'"),
        ("layer: mix", "layer: last", "layer: .*'mix', found 'last'"),
        ("layer: mix", "layer_transformation: entmax", "layer_transformation: .*, found 'entmax'"),
        ("[2048, ", "[0, ", "hidden_sizes: .*greater than 0, found 0"),
        ('hidden_sizes: [2048, "1024"]', "hidden_sizes:\n  a: 1", "hidden_sizes: .*, found {'a': 1}"),
        ("Tanh", "Swish", "activations: .*, found 'Swish'"),
        ("pretrained_model: xlm-roberta-large", "pretrained_model:", "pretrained_model: .*, found None"),
        ("pool: avg", "pool avg", "not YAML"),
        ("pool: avg", "pool: !!python/name:os.system", "not YAML"),
        ("nr_frozen_epochs: 0.3", "nr_frozen_epochs: " + "[" * 5000, "not YAML"),
    ],
)  # fmt: skip
def test_settings_that_are_not_known_are_refused_with_their_key(old, new, message, tmp_path):
    assert old in PUBLISHED
    with pytest.raises(FormatError, match=message) as raised:
        settings(tmp_path, PUBLISHED.replace(old, new))
    assert "\n" not in str(raised.value)


def test_unified_estimators_read_the_source(tmp_path):
    with pytest.raises(FormatError, match=r"input_segments: found .*, wanted src among them"):
        settings(tmp_path, as_yaml(hparams("unified_metric", input_segments=["mt", "ref"])))
    with pytest.raises(FormatError, match="encoder_model: found 'BERT', wanted XLM-RoBERTa or XLM-RoBERTa-XL"):
        settings(tmp_path, as_yaml(hparams("unified_metric", encoder_model="BERT")))


@given(st.lists(st.floats(-4, 4), min_size=1, max_size=8))
def test_mixtures(values):
    np.testing.assert_allclose(sparsemax(np.array(values)), naive_comet.sparsemax(values), atol=1e-9)
    np.testing.assert_allclose(softmax(np.array(values)), naive_comet.softmax(values), atol=1e-12)


def test_errors_before_an_estimator_is_opened(tmp_path, monkeypatch):
    metric, feature = (build(kind, "comet", model=tmp_path) for kind in ("metric", "feature"))
    with pytest.raises(ConfigError, match="comet: there are no source sentences"):
        metric.statistics([["a"]], [["b"]])
    with pytest.raises(ConfigError, match="segment 7 has no source sentence"):
        feature.extract(NBestList("7", (Hypothesis("a"),)))
    assert feature.extract(NBestList("7", ())).shape == (0, 1)
    assert metric.statistics([], []).shape == (0, 2)
    own = metric.with_sources(["a"])
    assert own.pairwise([]).shape == (0, 0)
    with pytest.raises(FormatError, match=r"hparams\.yaml: cannot be read: No such file"):
        own.pairwise(["a"])
    (tmp_path / "hparams.yaml").write_text(as_yaml(hparams("regression_metric")), encoding="utf-8")
    with pytest.raises(ModelError, match=r"model\.ckpt: there is no such file"):
        own.pairwise(["a"])
    (tmp_path / "model.ckpt").write_bytes(b"")
    with pytest.raises(ModelError, match="set 'encoder' to the folder of xlm-roberta-large"):
        own.pairwise(["a"])
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder" / "config.json").write_text("{}", encoding="utf-8")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        ModelError, match=r"needs torch, which is not installed: pip install 'rerank-plugins\[neural\]'"
    ):
        own.pairwise(["a"])
