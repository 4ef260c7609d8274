"""The web application: POST /rerank, GET /health and GET /metrics."""

from __future__ import annotations

import asyncio
import hmac
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rerank_adapters.applications.serving import bodies
from rerank_adapters.applications.serving.pool import Died, Full

if TYPE_CHECKING:
    from rerank_adapters.applications.serving.pool import Pool

BUCKETS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)  # seconds
CLIENT_GONE = 499


class Application:
    """The routes of a server with their metrics.

    A body may have `most` bytes, and a request may take `seconds` from its head to its answer. `token` is what requests
    must bear, or empty.
    """

    def __init__(self, pool: Pool, most: int, seconds: float, token: str = "") -> None:
        self.pool, self.most, self.seconds, self._token = pool, most, seconds, token.encode()
        own = self.registry = CollectorRegistry()
        self._requests = Counter("rerank_requests", "Requests to rerank, by status.", ["status"], registry=own)
        self._seconds = Histogram(
            "rerank_request_seconds", "Time from the head of a request to its answer.", buckets=BUCKETS, registry=own
        )
        self._lists = Counter("rerank_lists", "Lists that were reranked.", registry=own)
        self._hypotheses = Counter("rerank_hypotheses", "Hypotheses of these lists.", registry=own)
        for name, text, value in (
            ("rerank_waiting", "Requests that wait for a process.", lambda: pool.waiting),
            ("rerank_busy", "Processes at work or being started.", lambda: pool.busy),
            ("rerank_replaced", "Processes that died or exceeded their time.", lambda: pool.replaced),
        ):
            Gauge(name, text, registry=own).set_function(value)
        ProcessCollector(registry=own)
        self.asgi = Starlette(
            routes=[
                Route("/rerank", self.rerank, methods=["POST"]),
                Route("/health", self.health),
                Route("/metrics", self.metrics),
            ],
            exception_handlers={HTTPException: _in_json},
        )

    async def health(self, request: Request) -> Response:  # noqa: ARG002
        """200 while a process can answer, 503 otherwise."""
        alive = self.pool.alive
        return JSONResponse({"status": "ok" if alive else "starting", "processes": alive}, 200 if alive else 503)

    async def metrics(self, request: Request) -> Response:
        """The metrics in Prometheus's text format."""
        self._check_token(request)
        return Response(generate_latest(self.registry), media_type=CONTENT_TYPE_LATEST)

    async def rerank(self, request: Request) -> Response:
        """Rerank the lists of the body."""
        loop = asyncio.get_running_loop()
        started, status = loop.time(), CLIENT_GONE
        try:
            self._check_token(request)
            response = await self._reranked(request, started + self.seconds)
            status = response.status_code
            return response
        except HTTPException as error:
            status = error.status_code
            raise
        finally:
            self._requests.labels(str(status)).inc()
            self._seconds.observe(loop.time() - started)

    async def _reranked(self, request: Request, until: float) -> Response:
        media_type = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
        query = request.query_params
        try:
            with self.pool.place():
                body = await self._body(request, until)
                asked = bodies.Request(
                    body, media_type == "application/json", query.get("format", ""), query.get("output", "json")
                )
                answer = await self.pool.answer(asked, until)
        except Full:
            raise HTTPException(503, "too many requests wait; try again", {"Retry-After": "1"}) from None
        except TimeoutError:
            raise HTTPException(504, f"no answer within {self.seconds:g} s; send fewer or shorter lists") from None
        except Died:
            raise HTTPException(500, "the process that worked on the request has ended") from None
        self._lists.inc(answer.lists)
        self._hypotheses.inc(answer.hypotheses)
        return Response(answer.body, answer.status, media_type=answer.media_type)

    async def _body(self, request: Request, until: float) -> bytes:
        parts, size = list[bytes](), 0
        try:
            async with asyncio.timeout_at(until):
                async for part in request.stream():
                    parts.append(part)
                    size += len(part)
                    if size > self.most:
                        raise HTTPException(413, f"the body has more than {self.most} bytes")
        except TimeoutError:
            late = f"the body did not arrive within {self.seconds:g} s"
            raise HTTPException(408, late, {"Connection": "close"}) from None
        except ClientDisconnect:
            raise HTTPException(CLIENT_GONE, "the client has gone") from None
        return b"".join(parts)

    def _check_token(self, request: Request) -> None:
        if self._token:
            scheme, _, token = request.headers.get("authorization", "").partition(" ")
            if scheme.lower() != "bearer" or not hmac.compare_digest(token.strip().encode(), self._token):
                raise HTTPException(401, "wanted Authorization: Bearer TOKEN", {"WWW-Authenticate": "Bearer"})


async def _in_json(request: Request, error: Exception) -> Response:  # noqa: ARG001
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)
