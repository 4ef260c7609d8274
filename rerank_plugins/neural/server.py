"""Requests to a server: several at once, repeated with growing pauses where it is busy, and errors of one line.

The key is read from the environment when a request is sent. It is in no option, message, file or pickle; a redirection,
which would carry it elsewhere, is an error.
"""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from rerank_plugins import ConfigError, ModelError

BUSY = {408, 409, 425, 429, 500, 502, 503, 504}  # statuses after which the same request may succeed
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds
SHOWN = 200  # characters of a server's message
LOCAL = {"localhost", "127.0.0.1", "::1"}  # hosts that no proxy stands before


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True)
class Server:
    """A server at `url`, to which requests in JSON are sent.

    `key_variable` names the environment variable of the key. `timeout` is in seconds, for each request; after `retries`
    repetitions a request has failed. `at_once` requests are sent at the same time.
    """

    url: str
    key_variable: str = ""
    timeout: float = 300.0
    retries: int = 5
    at_once: int = 8

    def post_all(self, path: str, requests: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The answers to requests, in their order. Raises ModelError for the first that fails, and stops the others."""
        if len(requests) < 2 or self.at_once == 1:
            return [self.post(path, request) for request in requests]
        pool = ThreadPoolExecutor(min(self.at_once, len(requests)), "requests")
        try:
            futures = [pool.submit(self.post, path, request) for request in requests]
            return [future.result() for future in futures]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def post(self, path: str, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request. Raises ModelError for a server that fails, stays busy, or sends no JSON object."""
        pause = FIRST_PAUSE
        for trial in range(self.retries + 1):
            try:
                return self._answer(path, request)
            except _BusyError as error:
                if trial == self.retries:
                    trials = f"{trial + 1} trials" if trial else "1 trial"
                    raise ModelError(f"{self.url}: {error} (after {trials})") from None
                time.sleep(min(LONGEST_PAUSE, error.wait if error.wait is not None else pause))
                pause *= 2
        raise AssertionError("the last trial returns or raises")

    def _answer(self, path: str, request: dict[str, Any]) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "rerank-plugins"}
        key = os.environ.get(self.key_variable, "") if self.key_variable else ""
        if key:
            headers["Authorization"] = f"Bearer {key}"
        asked = urllib.request.Request(
            f"{self.url.rstrip('/')}{path}", json.dumps(request).encode(), headers, method="POST"
        )
        try:
            with self._opener().open(asked, timeout=self.timeout) as stream:
                text = stream.read()
        except urllib.error.HTTPError as error:
            with error:
                message = _message(error, key)
                if error.code in BUSY:
                    raise _BusyError(f"{error.code}: {message}", _seconds(error.headers)) from None
            raise ModelError(f"{self.url}: the server refuses the request, {error.code}: {message}") from None
        except TimeoutError:
            raise _BusyError(f"no answer in {self.timeout:g} seconds") from None
        except urllib.error.URLError as error:
            why = f"no answer in {self.timeout:g} seconds" if isinstance(error.reason, TimeoutError) else error.reason
            raise _BusyError(f"cannot be reached: {_one_line(str(why), key)}") from None
        except (OSError, HTTPException) as error:
            raise _BusyError(f"the connection broke: {_one_line(str(error), key) or type(error).__name__}") from None
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            shown = _one_line(text[:SHOWN].decode(errors="replace"), key)
            raise ModelError(f"{self.url}: found {shown[:60]!r}, wanted an object in JSON")
        return answer

    def _opener(self) -> urllib.request.OpenerDirector:
        proxies = [urllib.request.ProxyHandler({})] if urlsplit(self.url).hostname in LOCAL else []
        return urllib.request.build_opener(_NoRedirection, *proxies)


def check_url(url: str) -> None:
    """Raise ConfigError for what is no address of a server, or one with a key or a password."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"url: found {url[:60]!r}, wanted an address such as 'http://localhost:8000/v1'")
    if parts.username or parts.password or parts.query:
        raise ConfigError("url: wanted an address without user, password or query; the key belongs in the environment")


class _BusyError(Exception):
    """A failure that may pass; `wait` are the seconds that the server asks for."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


def _seconds(headers: Message) -> float | None:
    """The seconds of the header Retry-After; None without it, or where it has a date."""
    try:
        return max(0.0, float(headers.get("Retry-After", "")))
    except ValueError:
        return None


def _message(error: urllib.error.HTTPError, key: str) -> str:
    """What the server says of an error, in one line."""
    try:
        text = error.read(1 << 16).decode(errors="replace")
    except (OSError, HTTPException):
        text = ""
    try:
        found = json.loads(text)
        found = found.get("error", found) if isinstance(found, dict) else found
        found = found.get("message", found) if isinstance(found, dict) else found
        text = found if isinstance(found, str) else text
    except (ValueError, RecursionError):
        pass
    return _one_line(text, key) or str(error.reason)


def _one_line(text: str, key: str) -> str:
    """The start of a text in one line, without the key."""
    return " ".join((text.replace(key, "…") if key else text).split())[:SHOWN]
