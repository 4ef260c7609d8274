"""Decodes cases with pyctcdecode, in an environment of its own: reads a JSON file, prints JSON (test_decoding_packages.py).

A case has `logits`, `labels`, the language `model` (`{"arpa": …}`, `{"hhmm": beam}` or null; with "kenlm" pyctcdecode's
own model reads the ARPA file), the model's `settings`, and the `search` (arguments of `decode_beams`).
"""

import json
import logging
import sys
from pathlib import Path

import numpy as np


def language_model(of_case):
    from rerank_adapters.decoding import CtcLanguageModel
    from rerank_plugins.hhmm.language_model import HhmmLanguageModel
    from rerank_plugins.ngram.language_model import NgramLanguageModel

    model, settings = of_case["model"], of_case["settings"]
    if model is None:
        return None
    if "kenlm" in model:
        import kenlm
        from pyctcdecode.language_model import LanguageModel

        return LanguageModel(kenlm.Model(model["kenlm"]), **settings)
    if "hhmm" in model:
        return CtcLanguageModel(HhmmLanguageModel(beam=model["hhmm"]), **settings)
    return CtcLanguageModel(NgramLanguageModel(Path(model["arpa"])), **settings)


def decoded(case):
    """(text, acoustic score, score) of each beam, best first; and the scores with and without `</s>` of some words."""
    from pyctcdecode import Alphabet, BeamSearchDecoderCTC

    model = language_model(case)
    decoder = BeamSearchDecoderCTC(Alphabet(case["labels"], False), model)
    beams = decoder.decode_beams(np.array(case["logits"]), **case["search"])
    scores = []
    if model is not None:
        for words in case.get("sentences", []):
            state = model.get_start_state()
            for word in words:
                last = model.score(state, word, is_last_word=True)[0]
                score, state = model.score(state, word)
                scores += [score, last, model.score_partial_token(word)]
    return {
        "beams": [(text, float(acoustic), float(score)) for text, *_, acoustic, score in beams],
        "best": decoder.decode(
            np.array(case["logits"]), **{key: value for key, value in case["search"].items() if key != "prune_history"}
        ),
        "scores": scores,
        "order": getattr(model, "order", None),
    }


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    print(json.dumps([decoded(case) for case in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))]))
