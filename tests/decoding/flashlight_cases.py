"""Decodes with flashlight-text's lexicon decoder, in an environment of its own: reads a JSON file, prints JSON."""

import json
import sys
from pathlib import Path

import numpy as np
from flashlight.lib.text.decoder import CriterionType, LexiconDecoder, LexiconDecoderOptions, SmearingMode, Trie

from rerank_adapters.decoding import flashlight_model
from rerank_plugins.ngram.language_model import NgramLanguageModel


def decoded(case):
    """(words, acoustic score, ln p of the language model, score) of each hypothesis, best first."""
    labels, words = case["labels"], case["words"]
    space, blank = labels.index(" "), labels.index("")
    model = flashlight_model(NgramLanguageModel(Path(case["arpa"])), words)
    lexicon = Trie(len(labels), space)
    for number, word in enumerate(words):
        ln_p = model.score(model.start(False), number)[1]
        lexicon.insert([labels.index(letter) for letter in f"{word} "], number, ln_p)
    lexicon.smear(SmearingMode.MAX)
    options = LexiconDecoderOptions(
        beam_size=1000,
        beam_size_token=len(labels),
        beam_threshold=1e9,
        lm_weight=case["lm_weight"],
        word_score=case["word_score"],
        unk_score=-np.inf,
        sil_score=0.0,
        log_add=False,
        criterion_type=CriterionType.CTC,
    )
    decoder = LexiconDecoder(options, lexicon, model, space, blank, len(words), [], False)
    results = []
    for logits in case["logits"]:
        emissions = np.array(logits, np.float32)
        found = decoder.decode(emissions.ctypes.data, *emissions.shape)
        results.append(
            [
                ([number for number in each.words if number >= 0], each.emittingModelScore, each.lmScore, each.score)
                for each in found
            ]
        )
    return results


if __name__ == "__main__":
    print(json.dumps([decoded(case) for case in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))]))
