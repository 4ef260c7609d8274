"""The lengths of the n-grams that match, by KenLM and by our readers."""

from rerank_plugins.kit.backoff.scoring import matched_lengths, score_text
from rerank_plugins.ngram.kenlm_binary import KenlmBinary


def matches(lm, sentences):
    """The length (1 to the order) of the longest n-gram in the model that ends at each word, and at `</s>` last."""
    binary = lm if isinstance(lm, KenlmBinary) else lm._binary
    if binary:
        return [[length for _, length, _ in binary._kenlm.full_scores(" ".join(words))] for words in sentences]
    _, events = score_text(lm.ngrams.tables, lm.ngrams.vocabulary.encode(sentences))
    lengths = iter(matched_lengths(lm.ngrams.tables, events).tolist())
    return [[next(lengths) for _ in range(len(words) + 1)] for words in sentences]
