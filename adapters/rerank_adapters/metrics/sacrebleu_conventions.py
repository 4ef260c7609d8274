"""The tokenizers, version and signatures of sacrebleu (Post 2018), which no other module of this package imports.

`BLEU.TOKENIZERS` and the attribute `tokenizer` of its metrics were checked with sacrebleu 2.5 and 2.6. It is imported
on first use because the import is slow.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import lru_cache

from rerank_plugins import ConfigError, Metric

Tokenizer = Callable[[str], str]
# Tokenizers whose output for a text is the concatenation of their outputs for its white-space words. This holds for
# `13a`: it pads the text with spaces, so that white space surrounds every word; and white space is never the second
# character of its rule for `[^0-9][.,]`, nor the first of the one for `[.,][^0-9]`, so no match extends over two words.
WORD_BY_WORD = frozenset({"none", "13a"})


def join_signature(version: str, **settings: str | int | bool) -> str:
    """A signature such as `case:mixed|tok:13a|version:2.6.0`; truth values are written yes and no."""
    words = {True: "yes", False: "no"}
    pairs = [(key, words[value] if isinstance(value, bool) else value) for key, value in settings.items()]
    return "|".join(f"{key}:{value}" for key, value in [*pairs, ("version", version)])


def full_signature(metric: Metric, references: int | None) -> str:
    """The metric's signature with the number of references per segment (None where it varies)."""
    return f"nrefs:{'var' if references is None else references}|{metric.signature()}"


def sacrebleu_version() -> str:
    """The version of sacrebleu, which signatures name."""
    import sacrebleu

    return str(sacrebleu.__version__)


@lru_cache
def bleu_tokenizer(name: str) -> Tokenizer:
    """The tokenizer that sacrebleu's BLEU calls `name`, a function from a text to tokens separated by spaces.

    Raises ConfigError for an unknown name, and for a tokenizer whose package or model is not installed.
    """
    from sacrebleu.metrics.bleu import BLEU

    if name not in BLEU.TOKENIZERS:
        known = sorted(BLEU.TOKENIZERS)
        close = get_close_matches(name, known, 1)
        hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
        raise ConfigError(f"sacrebleu has no tokenizer {name!r}; {hint}")
    try:
        tokenizer: Tokenizer = BLEU(tokenize=name).tokenizer
    except Exception as error:  # each tokenizer fails in its own way where a package or a download is missing
        reason = str(error).strip().partition("\n")[0]
        raise ConfigError(f"sacrebleu's tokenizer {name!r} cannot be used: {reason}") from error
    return tokenizer


def tokenizer_signature(name: str) -> str:
    """The tokenizer's name in sacrebleu's signatures, with the version of its dictionary or model."""
    return str(bleu_tokenizer(name).signature())  # type: ignore[attr-defined]


@lru_cache
def tercom_tokenizer(*, normalized: bool, no_punct: bool, asian_support: bool, case_sensitive: bool) -> Tokenizer:
    """The tokenizer of sacrebleu's TER, a function from a text to tokens separated by spaces."""
    from sacrebleu.metrics.ter import TER

    tokenizer: Tokenizer = TER(
        normalized=normalized, no_punct=no_punct, asian_support=asian_support, case_sensitive=case_sensitive
    ).tokenizer
    return tokenizer
