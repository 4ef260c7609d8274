"""Recognises the language of texts by its function words or, without spaces between words, by its letters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

FUNCTION_WORDS = {
    "de": "der die das und ist nicht ein eine ich sie er wir zu den mit auf für dem des es",
    "en": "the of and to a in is that it we you he was for on with not are this have",
    "es": "el la los las de que y en un una es no se por con para lo su",
    "fr": "le la les de des et est un une que il je ne pas en dans pour vous sur à",
    "it": "il la che di non è un una per in si con le i del sono ha",
    "nl": "de het een en van ik is niet dat zijn op te met voor hij we er",
    "pl": "i w nie na się z do jest to że jak co o po",
    "pt": "o a os as de que e não um uma em se do da para com é",
    "sv": "och att det en som är i på inte han jag den av för med",
}
UNSPACED = {  # the letters of languages that are written without spaces between words
    "zh": re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"),
    "ja": re.compile("[\u3040-\u30ff]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
    "lo": re.compile("[\u0e80-\u0eff]"),
    "my": re.compile("[\u1000-\u109f]"),
    "km": re.compile("[\u1780-\u17ff]"),
}
MIN_FUNCTION_WORDS = 0.1  # the proportion of function words below which no language is named
MAX_TEXTS = 1000  # texts that are looked at


def unspaced_language(texts: Sequence[str]) -> str | None:
    """The code of the language, if most letters are of a script without spaces between words; otherwise None.

    >>> unspaced_language(["我们 今天去"]), unspaced_language(["今日は雨です"]), unspaced_language(["the cat 猫"])
    ('zh', 'ja', None)
    """
    letters = "".join(letter for text in texts[:MAX_TEXTS] for letter in text if letter.isalpha())
    counts = {language: len(pattern.findall(letters)) for language, pattern in UNSPACED.items()}
    if 2 * sum(counts.values()) <= len(letters):
        return None
    if 20 * counts["ja"] > len(letters):  # kana among Han characters
        return "ja"
    return max(counts, key=lambda language: counts[language])


def language_of(texts: Sequence[str]) -> str | None:
    """The two-letter code of the language; None where no language of FUNCTION_WORDS or UNSPACED is seen clearly.

    >>> language_of(["the cat is on the mat and we see it"]), language_of(["кот сидит на коврике"])
    ('en', None)
    """
    if unspaced := unspaced_language(texts):
        return unspaced
    words = Counter(word for text in texts[:MAX_TEXTS] for word in text.lower().split())
    rates = {
        language: sum(words[word] for word in frequent.split()) / max(1, words.total())
        for language, frequent in FUNCTION_WORDS.items()
    }
    best = max(rates, key=lambda language: rates[language])
    return best if rates[best] >= MIN_FUNCTION_WORDS else None
