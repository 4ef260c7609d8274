"""`rerank serve`: serves reranking over HTTP."""

from __future__ import annotations

import os
from pathlib import Path

import click

from rerank_adapters.cli.options import FILE
from rerank_plugins import ConfigError
from rerank_plugins.core.plugins import Registry

TOKEN = "RERANK_TOKEN"
LOOPBACK = ("127.0.0.1", "::1", "localhost")


@click.command("serve")
@click.option(
    "-w", "--weights", type=FILE, required=True, metavar="FILE",
    help="Rerank by these weights: a weights.toml, whose features are loaded once.",
)  # fmt: skip
@click.option("--host", default="127.0.0.1", show_default=True, metavar="HOST", help="Listen at this address.")
@click.option("--port", type=click.IntRange(0, 65535), default=8017, show_default=True,
              help="Listen at this port; 0: any.")  # fmt: skip
@click.option("-j", "--jobs", type=click.IntRange(1), default=2, show_default=True,
              help="Rerank in this many processes.")  # fmt: skip
@click.option("--max-body", type=click.IntRange(1), default=4_000_000, show_default=True, metavar="BYTES",
              help="Refuse a larger body (413).")  # fmt: skip
@click.option("--max-lists", type=click.IntRange(1), default=100, show_default=True, metavar="N",
              help="Refuse a request with more lists (422).")  # fmt: skip
@click.option("--max-hypotheses", type=click.IntRange(1), default=1000, show_default=True, metavar="N",
              help="Refuse a list with more hypotheses (422).")  # fmt: skip
@click.option("--max-words", type=click.IntRange(1), default=200, show_default=True, metavar="N",
              help="Refuse a hypothesis, source or context with more words (422).")  # fmt: skip
@click.option("--max-characters", type=click.IntRange(1), default=4000, show_default=True, metavar="N",
              help="Refuse a hypothesis, source or context with more characters (422).")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(0, min_open=True), default=30.0, show_default=True, metavar="SECONDS",
              help="Give a request up after this time (504).")  # fmt: skip
@click.option("--max-queue", "queue", type=click.IntRange(0), default=64, show_default=True, metavar="N",
              help="Refuse requests while this many wait (503).")  # fmt: skip
@click.option("--max-connections", type=click.IntRange(1), default=512, show_default=True, metavar="N",
              help="Refuse requests while there are more connections (503).")  # fmt: skip
@click.pass_obj
def command(
    registry: Registry, weights: Path, host: str, port: int, jobs: int, max_body: int, max_lists: int,
    max_hypotheses: int, max_words: int, max_characters: int, timeout: float, queue: int, max_connections: int,
) -> None:  # fmt: skip
    """Serve reranking over HTTP, with models loaded once.

    POST /rerank takes lists as JSON, or in any n-best format with ?format=NAME, and answers with the lists in their new
    order; /health and /metrics are for monitoring. Where the environment variable RERANK_TOKEN is set, requests must
    bear it. SIGTERM, SIGHUP and Ctrl-C let the requests that have begun finish; a second Ctrl-C ends them. Needs the
    extra `serve`.

    \b
    rerank serve -w weights.toml &
    curl -d '{"hypotheses": ["so it is", "so is it"]}' \\
        -H 'Content-Type: application/json' http://127.0.0.1:8017/rerank
    """  # noqa: D301
    from rerank_adapters.applications.serving.bodies import Limits
    from rerank_adapters.applications.serving.pool import Pool
    from rerank_adapters.applications.serving.worker import Served, say
    from rerank_adapters.reranker import Reranker

    try:
        from rerank_adapters.applications.serving.application import Application
        from rerank_adapters.applications.serving.server import listening_at, serve
    except ModuleNotFoundError as error:
        raise ConfigError(f"serve needs the package {error.name}: pip install 'rerank-plugins[serve]'") from None
    features = Reranker.load(weights, registry).features
    limits = Limits(max_lists, max_hypotheses, max_words, max_characters)
    # Models that fill a GPU, or use threads of their own, do not survive a fork.
    shared = not any(feature.extractor.one_process for feature in features)
    pool = Pool(Served(weights, tuple(registry.files), limits), jobs, queue, shared=shared)
    token = os.environ.get(TOKEN, "")
    with listening_at(host, port) as listening:
        if host not in LOOPBACK and not token:
            say(f"rerank: {host} can be reached by others; set {TOKEN} to let in only those who bear it")
        serve(listening, Application(pool, max_body, timeout, token), max_connections)
