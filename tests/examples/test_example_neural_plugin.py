"""The example plugin of a neural network: its values by a tiny classifier of random weights, and its contract."""

from pathlib import Path

import numpy as np
import pytest

from rerank_adapters.job.specs import Names, Spec
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.testing import check_feature_extractor
from tests.neural.tiny_models import needs_transformers, word_piece

NAME = "sentence-classifier"


@pytest.fixture(scope="module")
def file(root: Path) -> Path:
    return root / "example_nbest/plugin_neural/sentence_classifier.py"


def test_it_is_listed_without_torch(file: Path) -> None:
    entry = load_plugins(files=[file]).get("feature", NAME)
    assert [option.name for option in entry.options()] == ["model", "target"]
    assert entry.summary.startswith("Ln p of a class")


@pytest.mark.slow
@needs_transformers
def test_values_and_contract(file: Path, tmp_path: Path) -> None:
    import torch
    import transformers

    torch.manual_seed(1)
    small = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 24}
    model = transformers.BertForSequenceClassification(transformers.BertConfig(vocab_size=300, **small)).eval()
    model.save_pretrained(tmp_path)
    tokenizer = word_piece()
    tokenizer.save_pretrained(tmp_path)
    registry = load_plugins(files=[file])
    features = [
        Spec.read("feature", {"use": NAME, "model": tmp_path, "target": k}, Names(registry)).make() for k in (0, 1)
    ]
    sentences = [["the", "cat"], [], ["a", "dog", "sat"]]
    both = np.hstack([feature.values(sentences) for feature in features])
    np.testing.assert_allclose(np.exp(both).sum(axis=1), 1, rtol=1e-6)
    with torch.inference_mode():
        logits = model(**tokenizer("the cat", return_tensors="pt")).logits[0]
    assert both[0, 1] == pytest.approx(float(logits.log_softmax(0)[1]), abs=1e-5)
    check_feature_extractor(features[0], tolerance=1e-4)
