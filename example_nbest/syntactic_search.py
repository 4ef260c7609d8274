"""BLEU and time of the decoder with and without a syntactic language model inside the search.

    python example_nbest/syntactic_search.py [SENTENCES [BEAM [STACK]]]

Unlike make.py it needs the package and sacrebleu. Both systems have the same stacks. The weight of the syntactic model,
as a share of the n-gram model's, is the best of a few on tune.de; the word penalty is raised by what its words cost.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import sacrebleu
from decoder.beam import Decoder
from decoder.language_model import LanguageModel
from decoder.nbest import nbest
from decoder.phrase_table import read
from decoder.syntactic import Syntactic
from decoder.weights import Weights

from rerank_plugins.models.hhmm_model import HhmmModel

MT = Path(__file__).parent / "mt"
RATIOS = (0.1, 0.2, 0.4)
COST_OF_A_WORD = 4.0  # nats, about what a word costs more than none


@dataclass(frozen=True)
class Result:
    """BLEU against the first reference, seconds of CPU for each sentence."""

    bleu: float
    seconds: float


def translate(decoder: Decoder, name: str, count: int) -> Result:
    """Decode the first sentences of a set."""
    sources, references = (
        (MT / f"{name}.{language}").read_text(encoding="utf-8").splitlines()[:count] for language in ("de", "en")
    )
    started = time.process_time()
    found = []
    for source in sources:
        found.append(" ".join(nbest(decoder.search(source.split()), decoder.weights, 1)[0].words))
        if isinstance(decoder.model, Syntactic):
            decoder.model.reset()
    seconds = (time.process_time() - started) / len(sources)
    return Result(sacrebleu.corpus_bleu(found, [references], tokenize="none").score, seconds)


def main(count: int, beam: int, stack: int) -> None:
    """Print a line for each system."""
    with (MT / "phrase-table.txt").open(encoding="utf-8") as table, (MT / "lm.arpa").open(encoding="utf-8") as arpa:
        weights = Weights.read((MT / "moses.ini").read_text(encoding="utf-8").splitlines())
        plain = Decoder(read(table), LanguageModel(arpa), weights, stack_size=stack)
    syntax = HhmmModel(beam=beam, threshold=1e-4)
    syntax.score([["the", "dog"]])

    def joint(ratio: float) -> Decoder:
        penalty = weights.word_penalty - ratio * weights.language_model * COST_OF_A_WORD
        model = Syntactic(plain.model, syntax, ratio)
        return replace(plain, model=model, weights=replace(weights, word_penalty=penalty))  # type: ignore[arg-type]

    tuned = {ratio: translate(joint(ratio), "tune", count).bleu for ratio in RATIOS}
    best = max(tuned, key=lambda ratio: tuned[ratio])
    print("tune: " + ", ".join(f"share {ratio}: BLEU {bleu:.2f}" for ratio, bleu in tuned.items()))
    for name, decoder in (("n-grams", plain), (f"n-grams + {best} syntax", joint(best))):
        found = translate(decoder, "test", count)
        print(f"test, {name}: BLEU {found.bleu:.2f}, {found.seconds:.2f} s a sentence")


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    main(*(given + [100, 50, 20][len(given) :]))
