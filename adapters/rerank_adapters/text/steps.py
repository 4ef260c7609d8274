"""The functions of text steps, from text to text.

The steps that normalise transcripts are here too, since recognisers and references spell the same words differently. A
word error rate compares words. Case, punctuation, numerals, contractions, hesitations, and marks for noise and unknown
words are choices of whoever wrote the text, so hypotheses and references go through the same steps before they are
compared. Doing one of these steps again changes nothing. Contractions and the default fillers are English. Steps that
drop words leave single spaces.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from rerank_plugins import ConfigError
from rerank_plugins.core.words import split_words, straight_apostrophes

Step = Callable[[str], str]
# Moses's escapes in the order in which they are undone, `&amp;` last (scripts/tokenizer/deescape-special-chars.perl)
ESCAPES = (
    *(("&bar;", "|"), ("&#124;", "|"), ("&lt;", "<"), ("&gt;", ">"), ("&bra;", "["), ("&ket;", "]")),
    *(("&quot;", '"'), ("&apos;", "'"), ("&#91;", "["), ("&#93;", "]"), ("&amp;", "&")),
)
BETWEEN_SIDES = "|||"
DOTLESS = ("tr", "az")  # languages whose i has a dot in capitals, too, and which have an i without one
SIDES = {"source": 0, "target": -1}  # positions in a line of both sides


FILLERS = "ah,eh,er,erm,hm,hmm,mhm,mm,mmm,uh,uhm,um"
UNKNOWN_WORD = re.compile(r"<unk>|\[unk\]|<oov>|<unknown>|⁇", re.IGNORECASE)
# Marks of noise: < and > enclose one unless a space is at the inner side of either, or words are at their outer sides,
# as in `a < b and c > d`; within a word it has no spaces.
NOISE = re.compile(r"\[[^\[\]]*\]|\{[^{}]*\}|<[^<>\s]*>|(?<!\w)<(?!\s)[^<>]*(?<!\s)>(?!\w)")
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
        ("gonna", "going to"),
        ("wanna", "want to"),
    )
)


def undo_bpe(text: str) -> str:
    """Join the pieces of subword-nmt: `Straßen@@ bahn` -> `Straßenbahn`."""
    return text.replace("@@ ", "").removesuffix("@@")


def undo_sentencepiece(text: str) -> str:
    """Join the pieces of SentencePiece: `▁Straßen bahn` -> `Straßenbahn`; a text without any is left as it is."""
    return text.replace(" ", "").replace("▁", " ").strip() if "▁" in text else text


def unescape(text: str) -> str:
    """Undo the escapes of Moses's tokeniser: `&apos;s` -> `'s`."""
    if "&" in text:
        for escaped, character in ESCAPES:
            text = text.replace(escaped, character)
    return text


def reverse(text: str) -> str:
    """The words in reverse order, for models that read from right to left."""
    return " ".join(reversed(split_words(text)))


def characters(text: str) -> str:
    """Spell the text: characters become words, and `_` stands between words: `a cat` -> `a _ c a t`.

    An n-gram model of text that is spelt so gives a probability to the spelling of a name that no word model has.
    """
    return " ".join("_".join(split_words(text)))


def lowercase(language: str) -> Step:
    """Lower case; in Turkish and Azerbaijani, that of I is ı and that of İ is i."""
    if language not in DOTLESS:
        return str.lower
    return lambda text: text.replace("I", "ı").replace("İ", "i").lower()


def uppercase(language: str) -> Step:
    """Upper case; in Turkish and Azerbaijani, that of i is İ."""
    return str.upper if language not in DOTLESS else lambda text: text.replace("i", "İ").upper()


def side(side: str) -> Step:
    """One side of a line `source ||| target`; a line without the separator is that side itself."""
    if side not in SIDES:
        raise ConfigError(f"text step 'side:{side}': wanted side:source or side:target")
    return lambda text: text.split(BETWEEN_SIDES)[SIDES[side]].strip()


def tokenize(language: str) -> Step:
    """Moses's tokeniser, which reads all apostrophes as '; nothing is escaped."""
    from sacremoses import MosesTokenizer

    tokenizer = MosesTokenizer(language)
    return lambda text: str(tokenizer.tokenize(straight_apostrophes(text), return_str=True, escape=False))


def detokenize(language: str) -> Step:
    """Moses's detokeniser."""
    from sacremoses import MosesDetokenizer

    detokenizer = MosesDetokenizer(language)
    return lambda text: str(detokenizer.detokenize(text.split()))


def truecase(path: str) -> Step:
    """Moses's truecaser. Raises ConfigError for a file that is no model of it."""
    from sacremoses import MosesTruecaser

    try:
        truecaser = MosesTruecaser(path)
    except OSError as error:
        raise ConfigError(f"text step 'truecase': {path}: cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise ConfigError(f"text step 'truecase': {path}: not a Moses truecasing model ({error})") from None
    return partial(truecaser.truecase, return_str=True, use_known=True)


def classes(path: str) -> Step:
    """Replace each word by its class. Raises ConfigError for a file that cannot be read."""
    from rerank_plugins.ngram.word_classes import read_classes

    try:
        with open(path, encoding="utf-8") as lines:
            return read_classes(lines, path).apply
    except OSError as error:
        raise ConfigError(f"text step 'classes': {path}: cannot be read ({error.strerror})") from None


def restored(_: str) -> Step:
    """Write recognised words as a sentence, by a table of word frequencies, which is read here."""
    from rerank_adapters.text.restored_sentences import restore_sentence

    return restore_sentence


def normalize(form: str) -> Step:
    """A normal form of Unicode. Raises ConfigError for another one."""
    if form not in ("NFC", "NFD", "NFKC", "NFKD"):
        raise ConfigError(f"text step 'normalize-unicode:{form}': wanted NFC, NFD, NFKC or NFKD")
    return partial(unicodedata.normalize, form)  # type: ignore[arg-type]


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
        return " ".join(split_words("".join(characters)))

    return step


def expand_contractions(text: str) -> str:
    """Write English contractions out in their case: `won't` -> `will not`, `IT'S` -> `IT IS`; a possessive 's stays."""
    text = text.translate(APOSTROPHES)
    for pattern, full in CONTRACTIONS:
        text = pattern.sub(partial(_in_case, full=full), text)
    return text


def _in_case(contraction: re.Match[str], full: str) -> str:
    """What a contraction stands for, in capitals or with one if it is written so."""
    words = contraction.expand(full)
    if contraction[0].isupper():
        return words.upper()
    return words[0].upper() + words[1:] if contraction[0][0].isupper() else words


def no_fillers(listed: str) -> Step:
    """Remove hesitations, which are the words listed, in any case."""
    fillers = frozenset(listed.lower().split(","))
    return lambda text: " ".join(word for word in split_words(text) if word.lower().strip(".,") not in fillers)


def no_unknown(text: str) -> str:
    """Remove the marks of unknown words: `<unk>`, `[UNK]`, `<oov>`, `⁇`."""
    return _until_none(text, UNKNOWN_WORD, lambda mark: " ")


def no_noise(text: str) -> str:
    """Remove marks of noise in brackets: `[noise]`, `<laugh>`, `{breath}`; those of unknown words stay."""
    return _until_none(text, NOISE, lambda mark: mark[0] if UNKNOWN_WORD.fullmatch(mark[0]) else " ")


def _until_none(text: str, marks: re.Pattern[str], change: Callable[[re.Match[str]], str]) -> str:
    """The text with its marks changed, also those that come about when others are removed: `<a<b>c>`."""
    changed = " ".join(split_words(marks.sub(change, text)))
    return changed if changed == text else _until_none(changed, marks, change)


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
