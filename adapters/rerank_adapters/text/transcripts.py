"""The steps that normalise transcripts, since recognisers and references spell the same words differently.

A word error rate compares words. Case, punctuation, numerals, contractions, hesitations, and marks for noise and
unknown words are choices of whoever wrote the text, so hypotheses and references go through the same steps before they
are compared. Each step does one thing, and doing it again changes nothing. Contractions and the default fillers are
English. Steps that drop words leave single spaces.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from rerank_plugins import ConfigError

Step = Callable[[str], str]
FILLERS = "ah,eh,er,erm,hm,hmm,mhm,mm,mmm,uh,uhm,um"
UNKNOWN_WORD = re.compile(r"<unk>|\[unk\]|<oov>|<unknown>|⁇", re.IGNORECASE)
NOISE = re.compile(r"\[[^\[\]]*\]|<[^<>]*>|\{[^{}]*\}")
NUMERAL = re.compile(r"(?<![\w.])(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(st|nd|rd|th)?(?!\w|\.\d)")
APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'", "‘": "'"})
CONTRACTIONS = tuple(  # the ones of a pronoun with 's are read as `is`, and 'd as `would`: a convention for both sides
    (re.compile(rf"\b{pattern}\b", re.IGNORECASE), full)
    for pattern, full in (
        ("won't", "will not"),
        ("can't", "can not"),
        ("cannot", "can not"),
        ("shan't", "shall not"),
        ("ain't", "is not"),
        ("let's", "let us"),
        ("y'all", "you all"),
        ("(is|are|was|were|do|does|did|has|have|had|would|should|could|must|need|might)n't", r"\1 not"),
        ("(i)'m", r"\1 am"),
        ("(he|she|it|that|this|what|who|where|there|here|how)'s", r"\1 is"),
        (r"(\w+)'re", r"\1 are"),
        (r"(\w+)'ve", r"\1 have"),
        (r"(\w+)'ll", r"\1 will"),
        (r"(i|you|he|she|it|we|they|that|who|there)'d", r"\1 would"),
        ("(gon)na", "going to"),
        ("(wan)na", "want to"),
    )
)


def no_punctuation(kept: str) -> Step:
    """Remove punctuation and symbols, but not the characters `kept` where they stand within a word."""

    def step(text: str) -> str:
        text = text.translate(APOSTROPHES)
        if text.isalnum():
            return text
        characters = []
        for position, character in enumerate(text):
            if unicodedata.category(character)[0] not in "PS":
                characters.append(character)
                continue
            inside = text[position - 1 : position].isalnum() and text[position + 1 : position + 2].isalnum()
            if inside:
                characters.append(character if character in kept else "" if character == "'" else " ")
            else:
                characters.append(" ")
        return " ".join("".join(characters).split())

    return step


def characters(text: str) -> str:
    """Spell the text: characters become words, and `_` stands between words: `a cat` -> `a _ c a t`.

    An n-gram model of text that is spelt so gives a probability to the spelling of a name that no word model has.
    """
    return " ".join("_".join(text.split()))


def expand_contractions(text: str) -> str:
    """Write English contractions out: `won't` -> `will not`, `it's` -> `it is`; a possessive 's stays."""
    text = text.translate(APOSTROPHES)
    if "'" not in text and "nna" not in text and "cannot" not in text.lower():
        return text
    for pattern, full in CONTRACTIONS:
        text = pattern.sub(full, text)
    return text


def no_fillers(listed: str) -> Step:
    """Remove hesitations, which are the words listed, in any case."""
    fillers = frozenset(listed.lower().split(","))
    return lambda text: " ".join(word for word in text.split() if word.lower().strip(".,") not in fillers)


def no_unknown(text: str) -> str:
    """Remove the marks of unknown words: `<unk>`, `[UNK]`, `<oov>`, `⁇`."""
    return " ".join(UNKNOWN_WORD.sub(" ", text).split())


def no_noise(text: str) -> str:
    """Remove marks of noise in brackets: `[noise]`, `<laugh>`, `{breath}`; those of unknown words stay."""
    return " ".join(NOISE.sub(lambda mark: mark[0] if UNKNOWN_WORD.fullmatch(mark[0]) else " ", text).split())


def numbers_to_words(language: str) -> Step:
    """Spell numerals out, through the package num2words: cardinals, decimals, and English ordinals as `3rd`.

    `2,300.5` -> `two thousand three hundred point five`. Hyphens, commas and the British `and` are not written.
    """
    convert = _num2words(language)

    @lru_cache(maxsize=10_000)
    def spelt(number: str, kind: str) -> str:
        value: Any = int(number) if number.isdigit() else number
        words = str(convert(value, lang=language, to=kind)).replace("-", " ").replace(",", "")
        return " ".join(word for word in words.split() if word != "and" or language.partition("_")[0] != "en")

    def written(match: re.Match[str]) -> str:
        whole = match[1].replace(",", "")
        if len(whole) > 15 or (match[3] and (match[2] or not language.startswith("en"))):
            return match[0]
        return spelt(whole + (match[2] or ""), "ordinal" if match[3] else "cardinal")

    return lambda text: NUMERAL.sub(written, text) if any(map(str.isdigit, text)) else text


def _num2words(language: str) -> Callable[..., Any]:
    try:
        from num2words import CONVERTER_CLASSES, num2words
    except ImportError:
        raise ConfigError(
            "text step 'numbers-to-words' needs num2words: pip install 'rerank-plugins[speech]'"
        ) from None
    if language not in CONVERTER_CLASSES and language[:2] not in CONVERTER_CLASSES:
        raise ConfigError(f"text step 'numbers-to-words:{language}': num2words has no such language")
    convert: Callable[..., Any] = num2words
    return convert


def whisper(kind: str) -> Step:
    """OpenAI's normaliser of transcripts, through the package whisper-normalizer: English (`en`) or `basic`."""
    if kind not in ("en", "basic"):
        raise ConfigError(f"text step 'whisper:{kind}': wanted en or basic")
    try:
        from whisper_normalizer.basic import BasicTextNormalizer
        from whisper_normalizer.english import EnglishTextNormalizer
    except ImportError:
        raise ConfigError(
            "text step 'whisper' needs whisper-normalizer: pip install 'rerank-plugins[speech]'"
        ) from None
    normalise = EnglishTextNormalizer() if kind == "en" else BasicTextNormalizer()
    return lambda text: " ".join(str(normalise(text)).split())
