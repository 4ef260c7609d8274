"""Servers on the loopback that behave as those of large language models do, and the ln p of their made-up model.

Ln p of a token is a hash of all tokens before it and of itself, so that order and every earlier token matter.
"""

import hashlib
import json
import re
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def tokens_of(text: str) -> list[str]:
    """Pieces of up to four characters, with the space before; a line end is a token, é is spelt by two."""
    pieces = re.findall(r"\n| ?[^\s]{1,4}| ", text)
    return [part for piece in pieces for part in re.findall(r"\n|é|[^\né]+", piece)]


def ln_p(before: list[str], token: str) -> float:
    digest = hashlib.sha256("\x01".join([*before, token]).encode()).digest()
    return -0.05 - int.from_bytes(digest[:4], "big") / 2**32 * 9


class Behaviour:
    """What a server does: `kind`, the BOS token that it has, faults, and what it has been asked."""

    def __init__(self, kind: str = "given", *, start: str = "<s>", key: str = "", fault: str = "") -> None:
        self.kind, self.start, self.key, self.fault = kind, start, key, fault
        self.requests: list[tuple[str, dict, dict]] = []
        self.failures = 0  # answers with an error that are still to come
        self.released = threading.Event()  # for which a slow server waits
        self.most, self.now, self.lock = 0, 0, threading.Lock()

    def scored(self, text: str) -> tuple[list[str], list[float | None]]:
        tokens = [self.start] if self.start else []
        tokens += tokens_of(text)
        values = [None if not at else ln_p(tokens[:at], token) for at, token in enumerate(tokens)]
        if self.fault == "order":  # of a bag of tokens
            values = [None if not at else -float(len(token)) for at, token in enumerate(tokens)]
        if self.fault == "zeros":
            values = [None if not at else 0.0 for at, token in enumerate(tokens)]
        if self.fault == "later":  # every value depends on the whole text
            values = [None if not at else ln_p(tokens, token) for at, token in enumerate(tokens)]
        if self.fault == "noise":
            values = [None if not at else value - time.perf_counter_ns() % 977 for at, value in enumerate(values)]
        if self.fault == "positive":
            values = [None if not at else 0.5 for at, token in enumerate(tokens)]
        return tokens, values

    def answer(self, path: str, request: dict) -> dict:
        texts = request["prompt"] if isinstance(request["prompt"], list) else [request["prompt"]]
        choices = [self.choice(index, text, request) for index, text in enumerate(texts)]
        return {"object": "text_completion", "choices": choices[::-1]}  # the order of choices is not promised

    def choice(self, index: int, text: str, request: dict) -> dict:
        tokens, values = self.scored(text)
        choice: dict = {"index": index, "text": text + " x", "logprobs": None}
        if self.kind == "chat":  # ln p of what was generated, in the form of chats
            choice["logprobs"] = {"content": [{"token": " x", "logprob": -0.7, "bytes": [32], "top_logprobs": []}]}
        elif self.kind == "generated":  # ln p of generated tokens alone
            choice["logprobs"] = {"tokens": [" x"], "token_logprobs": [-0.7], "text_offset": [0]}
        elif request.get("echo"):
            choice["logprobs"] = {"tokens": [spelt(t) for t in [*tokens, " x"]], "token_logprobs": [*values, -0.7]}
        return choice


def spelt(token: str) -> str:
    """A token of one byte of a character has no text of its own."""
    return "�" if token == "é" else token


@contextmanager
def serving(behaviour: Behaviour):
    """The address of a server with that behaviour."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            with behaviour.lock:
                behaviour.now += 1
                behaviour.most = max(behaviour.most, behaviour.now)
                fails, behaviour.failures = behaviour.failures > 0, max(0, behaviour.failures - 1)
            self.counted = True
            try:
                self.respond(fails)
            finally:
                self.leave()

        def leave(self) -> None:
            """Count the request no more: a client that has the whole answer may send the next one at once."""
            with behaviour.lock:
                behaviour.now -= self.counted
                self.counted = False

        def respond(self, fails: bool) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            behaviour.requests.append((self.path, request, dict(self.headers)))
            if behaviour.key and self.headers.get("Authorization") != f"Bearer {behaviour.key}":
                return self.send(401, {"error": {"message": f"wrong key\n{self.headers.get('Authorization')}"}})
            if behaviour.fault == "slow":
                behaviour.released.wait(30)
            if fails:
                if behaviour.kind == "dying":
                    return self.connection.close()
                if behaviour.kind == "moved":
                    return self.send(302, {}, {"Location": "http://127.0.0.1:9/elsewhere"})
                return self.send(429, {"error": {"message": "slow down"}}, {"Retry-After": "0"})
            if behaviour.fault == "text":
                return self.send(200, "no object")
            time.sleep(0.02)
            return self.send(200, behaviour.answer(self.path, request))

        def send(self, status: int, answer, headers=()) -> None:
            body = json.dumps(answer).encode()
            self.send_response(status)
            for name, value in dict(headers).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.leave()
            self.wfile.write(body)

        def log_message(self, *_) -> None:
            pass

        def handle(self) -> None:
            with suppress(OSError, ValueError):  # the client is gone, or the connection was closed on purpose
                super().handle()

        def finish(self) -> None:
            with suppress(OSError, ValueError):
                super().finish()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        behaviour.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
