"""COMET's scores for one triple at a time, from the equations of the papers, in double precision.

Nothing is batched, padded, remembered or split into parts; the weights are taken from the checkpoint by their names.
"""

import json

import numpy as np


def softmax(values):
    shares = [np.exp(value) for value in values]
    return [share / sum(shares) for share in shares]


def sparsemax(values):
    """The nearest point of the simplex: the threshold is found by bisection."""
    low, high = min(values) - 1, max(values)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(max(0, value - middle) for value in values) > 1 else (low, middle)
    return [max(0, value - low) for value in values]


class Naive:
    """An estimator in a folder, with the encoder in `encoder`; `keys` are those of hparams.yaml that differ."""

    def __init__(self, folder, keys):
        import torch
        import transformers

        base = folder / "encoder"
        self.keys, self.torch = keys, torch
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(base)
        state = torch.load(folder / "checkpoints" / "model.ckpt", weights_only=True)["state_dict"]
        self.weights = {name: value.double().numpy() for name, value in state.items()}
        config = transformers.AutoConfig.from_pretrained(base)
        self.limit = json.loads((base / "config.json").read_text())["max_position_embeddings"] - 4
        self.encoder = transformers.AutoModel.from_config(config).double().eval()
        own = {name[len("encoder.model.") :]: value for name, value in state.items() if name.startswith("encoder.")}
        self.encoder.load_state_dict(own, strict=False)

    def layers(self, ids):
        with self.torch.inference_mode():
            found = self.encoder(self.torch.tensor([ids]), output_hidden_states=True).hidden_states
        return [layer[0].double().numpy() for layer in found]

    def mixed(self, ids):
        layers, place = self.layers(ids), self.keys.get("layer", "mix")
        if place != "mix":
            return layers[place]
        names = [f"layerwise_attention.scalar_parameters.{number}" for number in range(len(layers))]
        parameters = [float(self.weights[name][0]) for name in names]
        shares = (sparsemax if self.keys["layer_transformation"] == "sparsemax" else softmax)(parameters)
        if self.keys["layer_norm"]:
            layers = [(layer - layer.mean()) / np.sqrt(layer.var() + 1e-12) for layer in layers]
        gamma = float(self.weights["layerwise_attention.gamma"][0])
        return gamma * sum(share * layer for share, layer in zip(shares, layers, strict=True))

    def pieces(self, text):
        return self.tokenizer(text, truncation=True, max_length=self.limit)["input_ids"]

    def embedding(self, text):
        mixed = self.mixed(self.pieces(text))
        return {"avg": mixed.mean(0), "max": mixed.max(0), "cls": mixed[0]}[self.keys["pool"]]

    def regression(self, value):
        numbers = sorted({int(name.split(".")[2]) for name in self.weights if name.startswith("estimator.ff.")})
        for number in numbers:
            weight, bias = (self.weights[f"estimator.ff.{number}.{name}"] for name in ("weight", "bias"))
            value = weight @ value + bias
            if number != numbers[-1]:
                value = np.tanh(value)
        return float(value[0])

    def score(self, hypothesis, source, reference=None):
        kind = self.keys["class_identifier"]
        if kind == "unified_metric":
            end = self.tokenizer.sep_token_id
            joined = [*self.pieces(hypothesis), end, *self.pieces(source)[1:]]
            return self.regression(self.mixed(joined[: self.limit + 2])[0])
        h, s = self.embedding(hypothesis), self.embedding(source)
        if kind == "referenceless_regression_metric":
            return self.regression(np.concatenate([h, s, h * s, abs(h - s)]))
        r = self.embedding(reference)
        return self.regression(np.concatenate([h, r, h * r, abs(h - r), h * s, abs(h - s)]))
