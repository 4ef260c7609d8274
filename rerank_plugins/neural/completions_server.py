"""Ln p of given texts from a server that speaks OpenAI's completions protocol, by `echo` with `logprobs`.

The key is read from the environment when a request is sent. It is in no option, message, file or pickle; a redirection,
which would carry it elsewhere, is an error. urllib3 (extra `neural`) keeps connections and repeats requests.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from pydantic import BaseModel, ValidationError

from rerank_plugins import ConfigError, ModelError
from rerank_plugins.neural.given_text import GivenText, token_ends

if TYPE_CHECKING:
    import urllib3

BUSY = (408, 409, 425, 429, 500, 502, 503, 504)  # statuses after which the same request may succeed
BACKOFF = 0.5  # seconds: half of the second repetition's pause; each further pause is twice as long
LONGEST_PAUSE = 30  # seconds
SHOWN = 200  # characters of a server's message
LOCAL = {"localhost", "127.0.0.1", "::1"}  # hosts that no proxy stands before
ADVICE = "the server must support `echo` with `logprobs` in its completions API, as vLLM does"


class _LogProbabilities(BaseModel):
    tokens: list[str] | None = None
    token_logprobs: list[float | None] | None = None


class _Choice(BaseModel):
    index: int
    logprobs: _LogProbabilities | None = None


class _Completion(BaseModel):
    choices: list[_Choice]


@dataclass(frozen=True)
class CompletionsServer:
    """A server at `url`, without `/completions`, which is asked for `batch` texts in each request.

    `key_variable` names the environment variable of the key. `timeout` is in seconds, for each request; after `retries`
    repetitions a request has failed. `at_once` requests are sent at the same time.
    """

    url: str
    model: str
    key_variable: str
    at_once: int
    batch: int
    timeout: float
    retries: int

    def given_texts(self, texts: Sequence[str]) -> list[GivenText]:
        """The tokens of texts with their ln p, in the order of the texts.

        Raises ModelError for the first request that fails, and sends no more of the others; for answers that are no
        completions; and for tokens that do not spell their text.
        """
        if not texts:
            return []
        parts = [texts[at : at + self.batch] for at in range(0, len(texts), self.batch)]
        threads = ThreadPoolExecutor(min(self.at_once, len(parts)), "requests")
        try:
            return list(chain.from_iterable(threads.map(partial(self._ask, self._connections), parts)))
        finally:
            threads.shutdown(wait=False, cancel_futures=True)

    @cached_property
    def _connections(self) -> urllib3.PoolManager:
        try:
            import urllib3
        except ImportError:
            wanted = "pip install urllib3, or the extra `neural`"
            raise ModelError(f"{self.url}: asking it needs urllib3, which is not installed: {wanted}") from None
        retries = urllib3.Retry(
            self.retries, status_forcelist=BUSY, allowed_methods=None, backoff_factor=BACKOFF,
            backoff_max=LONGEST_PAUSE, retry_after_max=LONGEST_PAUSE, raise_on_status=False,
        )  # fmt: skip
        parts = urlsplit(self.url)
        host = parts.hostname or ""
        proxy = None if host in LOCAL or proxy_bypass(host) else getproxies().get(parts.scheme)
        if proxy:
            return urllib3.ProxyManager(proxy, retries=retries, timeout=self.timeout, maxsize=self.at_once)
        return urllib3.PoolManager(retries=retries, timeout=self.timeout, maxsize=self.at_once)

    def _ask(self, connections: urllib3.PoolManager, texts: Sequence[str]) -> list[GivenText]:
        """Send one request, again where the server is busy or breaks, and read the answer."""
        import urllib3

        asked = {
            "model": self.model,
            "prompt": list(texts),
            "max_tokens": 1,
            "temperature": 0,
            "echo": True,
            "logprobs": 1,
        }
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "rerank-plugins"}
        key = os.environ.get(self.key_variable, "") if self.key_variable else ""
        if key:
            headers["Authorization"] = f"Bearer {key}"
        address = f"{self.url.rstrip('/')}/completions"
        try:
            answer = connections.request(
                "POST", address, body=json.dumps(asked).encode(), headers=headers, redirect=False
            )
        except urllib3.exceptions.MaxRetryError as error:
            trials = f"{self.retries + 1} trials" if self.retries else "1 trial"
            raise ModelError(f"{self.url}: no answer after {trials}: {_one_line(str(error.reason), key)}") from None
        except urllib3.exceptions.HTTPError as error:  # as for a pause that cannot be read
            raise ModelError(f"{self.url}: no answer: {_one_line(str(error), key)}") from None
        if answer.status != 200:
            message = _message(answer.data.decode(errors="replace"), key) or answer.reason
            raise ModelError(f"{self.url}: the server refuses the request, {answer.status}: {message}")
        try:
            choices = sorted(_Completion.model_validate_json(answer.data).choices, key=lambda choice: choice.index)
        except ValidationError:
            found = _one_line(answer.data.decode(errors="replace"), key)[:60]
            raise ModelError(f"{self.url}: found {found!r}, wanted a completion in JSON") from None
        if [choice.index for choice in choices] != list(range(len(texts))):
            raise ModelError(f"{self.url}: found {len(choices)} choices, wanted one for each of {len(texts)} texts")
        return [self._given(choice, text) for choice, text in zip(choices, texts, strict=True)]

    def _given(self, choice: _Choice, text: str) -> GivenText:
        """The tokens of the text alone, without those that were generated after it."""
        found = choice.logprobs or _LogProbabilities()
        tokens = found.tokens or []
        ends = token_ends(tokens, text)
        values = [math.nan if value is None else value for value in found.token_logprobs or []][: len(ends)]
        if ends[-1:] != [len(text)] or len(values) < len(ends):
            spelt = f"ln p of {len(tokens)} tokens that do not spell the given text"
            raise ModelError(f"{self.url}: the server returned {spelt}: {ADVICE}")
        if wrong := [value for value in values if value > 1e-6 or value == -math.inf]:
            raise ModelError(f"{self.url}: the server returned ln p = {wrong[0]:g}, wanted finite numbers of at most 0")
        return GivenText(ends, values)


def check_url(url: str) -> None:
    """Raise ConfigError for what is no address of a server, or one with a key or a password."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"url: found {url[:60]!r}, wanted an address such as 'http://localhost:8000/v1'")
    if parts.username or parts.password or parts.query:
        raise ConfigError("url: wanted an address without user, password or query; the key belongs in the environment")


def _message(text: str, key: str) -> str:
    """What the server says of an error, in one line: the text of `error.message` where there is one."""
    try:
        found = json.loads(text)
        found = found.get("error", found) if isinstance(found, dict) else found
        found = found.get("message", found) if isinstance(found, dict) else found
        text = found if isinstance(found, str) else text
    except (ValueError, RecursionError):
        pass
    return _one_line(text, key)


def _one_line(text: str, key: str) -> str:
    """The start of a text in one line, without the key."""
    return " ".join((text.replace(key, "…") if key else text).split())[:SHOWN]
