"""Ln p of the tokens of a given text, as servers report them: requests, answers, and the places of tokens in the text.

Three forms are known. `completions` is OpenAI's: `echo` with `logprobs` reports the tokens of the prompt as well (vLLM,
llama-cpp-python). `vllm` asks for `prompt_logprobs`. `tgi` asks Text Generation Inference for `decoder_input_details`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from rerank_plugins import ModelError

Form = Literal["completions", "vllm", "tgi"]
PATHS = {"completions": "/completions", "vllm": "/completions", "tgi": "/generate"}
FLAGS = {
    "completions": "the server must support `echo` with `logprobs`: llama.cpp's llama-server does not; start "
    "`python -m llama_cpp.server --logits_all true`, or vLLM",
    "vllm": "the server must support `prompt_logprobs`: start vLLM, or set form = 'completions'",
    "tgi": "start the server with --enable-prefill-logprobs",
}
LONGEST_GAP = 12  # characters of a text that tokens may spell which are no text
BYTE = re.compile("<0x([0-9A-F]{2})>")
UNNAMED_TOKEN = "\0"  # in place of a token that the server does not name


class GivenText(NamedTuple):
    """The tokens of a text: the place after the last character of each, and its ln p, NaN where the server has none."""

    ends: list[int]
    ln_p: list[float]


def requests(form: Form, model: str, texts: Sequence[str], batch: int) -> list[dict[str, Any]]:
    """The requests for ln p of the tokens of texts, at most `batch` texts each."""
    if form == "tgi":
        asked = {"max_new_tokens": 1, "details": True, "decoder_input_details": True}
        return [{"inputs": text, "parameters": asked} for text in texts]
    more = {"echo": True, "logprobs": 1} if form == "completions" else {"prompt_logprobs": 0}
    return [
        {"model": model, "prompt": list(texts[at : at + batch]), "max_tokens": 1, "temperature": 0, **more}
        for at in range(0, len(texts), batch)
    ]


def given_texts(form: Form, url: str, answer: dict[str, Any], texts: Sequence[str]) -> list[GivenText]:
    """The tokens of the texts of one request.

    Raises ModelError for an answer without ln p of the given text, with the server's flag, and for one that cannot be
    read.
    """
    try:
        found = list(_choices(form, answer, len(texts)))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ModelError(
            f"{url}: the answer is not that of the form {form!r}: {type(error).__name__} {error}"
        ) from None
    return [_placed(form, url, *pair, text) for pair, text in zip(found, texts, strict=True)]


def _choices(form: Form, answer: dict[str, Any], number: int) -> Iterator[tuple[list[str], list[float]]]:
    """The tokens and ln p of each text, also of what was generated after it; () where the server has none."""
    if form == "tgi":
        details = answer["details"]
        yield _columns([(token["text"], token["logprob"]) for token in [*details["prefill"], *details["tokens"]]])
        return
    choices = sorted(answer["choices"], key=lambda choice: choice["index"])
    if [choice["index"] for choice in choices] != list(range(number)):
        raise ValueError(f"found {len(choices)} choices, wanted {number}")
    for choice in choices:
        if form == "vllm":
            entries = [next(iter(entry.values())) if entry else None for entry in choice.get("prompt_logprobs") or ()]
            yield _columns([(e["decoded_token"], e["logprob"]) if e else (UNNAMED_TOKEN, None) for e in entries])
        else:
            found = choice.get("logprobs") or {}
            yield _columns(zip(found.get("tokens") or (), found.get("token_logprobs") or (), strict=True))


def _columns(pairs: Any) -> tuple[list[str], list[float]]:
    tokens, values = list[str](), list[float]()
    for token, value in pairs:
        if not isinstance(token, str):
            raise TypeError(f"found the token {token!r:.40}")
        tokens.append(token)
        values.append(math.nan if value is None else float(value))
    return tokens, values


def _placed(form: Form, url: str, tokens: list[str], ln_p: list[float], text: str) -> GivenText:
    """The tokens of the text alone. Raises ModelError if they do not spell it, and for ln p above 0."""
    ends = places(tokens, text)
    # A token without a name may be the text's first one.
    if ends[-1:] != [len(text)] and tokens[:1] == [UNNAMED_TOKEN] and len(tokens) > 1:
        ends = places([text[: text.find(_spelt(tokens[1]), 1)], *tokens[1:]], text)
    if not ends or ends[-1] < len(text):
        found = f"ln p of {len(tokens)} tokens that do not spell the given text"
        raise ModelError(f"{url}: the server returned {found}: {FLAGS[form]}")
    values = ln_p[: len(ends)]
    if wrong := [value for value in values if value > 1e-6 or value == -math.inf]:
        raise ModelError(f"{url}: the server returned ln p = {wrong[0]:g}, wanted finite numbers of at most 0")
    return GivenText(ends, values)


def places(tokens: Sequence[str], text: str) -> list[int]:
    """The place in the text after each token, up to the one with which the text is complete.

    A special token at the beginning has no characters. A space may be written `▁`, and one may be put before the text;
    `<0x0A>` is a byte. A character of several bytes may be spelt by several tokens, some of which are empty or no text.
    """
    ends: list[int] = []
    at = waiting = 0  # waiting: the tokens before this one whose place is not known yet
    unread = False  # whether one of these is no text
    for token in tokens:
        if at == len(text) and ends:
            break
        spelt = _spelt(token)
        if not at and spelt.startswith(" ") and not text.startswith(" "):
            spelt = spelt[1:]
        begin = at if text.startswith(spelt, at) else -1
        if unread and spelt:
            first = at + 1 if at else 0
            begin = text.find(spelt, first, first + LONGEST_GAP + len(spelt))
        if not spelt or begin < 0:
            waiting, unread = waiting + 1, unread or bool(spelt)
        else:
            between = begin if unread else begin + len(spelt)
            ends[len(ends) - waiting :] = [between] * waiting
            at, waiting, unread = begin + len(spelt), 0, False
        ends.append(at)
    return ends


def _spelt(token: str) -> str:
    byte = BYTE.fullmatch(token)
    if byte is None:
        return token.replace("▁", " ")
    number = int(byte[1], 16)
    return chr(number) if number < 128 else token
