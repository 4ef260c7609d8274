"""A plugin of a neural network: ln p of a class of sentences, such as "acceptable", by a local transformers model."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from rerank_plugins import PickledFields, SentenceFeature, hookimpl, option


@dataclass(frozen=True)
class SentenceClassifier(PickledFields, SentenceFeature):
    """Ln p of a class of the hypothesis by a classifier of sentences; an empty hypothesis is classified as well."""

    engines = ("torch", "transformers")  # values that were computed with other versions are not used again
    one_process = True  # torch uses all cores

    model: Path = option(doc="folder of the classifier, as `save_pretrained` writes it")
    target: int = option(1, doc="number of the class")

    @cached_property
    def _opened(self):
        import transformers  # on first use, so that listing plugins is instant

        classes = (transformers.AutoTokenizer, transformers.AutoModelForSequenceClassification)
        return [each.from_pretrained(self.model, local_files_only=True) for each in classes]

    def values(self, sentences):
        import torch

        tokenizer, model = self._opened
        rows = []
        for at in range(0, len(sentences), 32):
            texts = [" ".join(words) for words in sentences[at : at + 32]]
            with torch.inference_mode():
                logits = model(**tokenizer(texts, padding=True, truncation=True, return_tensors="pt")).logits
            rows += logits.double().log_softmax(1)[:, self.target].tolist()
        return np.array(rows).reshape(-1, 1)


@hookimpl
def register_feature_extractors(register):
    register("sentence-classifier", SentenceClassifier)
