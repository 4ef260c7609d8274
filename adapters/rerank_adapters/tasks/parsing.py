"""`rerank parse`: the sentences of a text or of n-best lists to CoNLL-U, and a parser against gold trees."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import tee
from pathlib import Path

from rerank_adapters.config import plugin_table
from rerank_adapters.formats.compressed import open_atomic, open_text
from rerank_adapters.formats.reading import stream_nbest
from rerank_adapters.tasks.counting_bar import CountingBar
from rerank_adapters.tasks.job import Job
from rerank_adapters.tasks.parse_pool import ParseCounts, Words, parse_in_order
from rerank_plugins import FormatError, NBestList, Parser
from rerank_plugins.parsers.cached import CachedParser
from rerank_plugins.trees.attachment import Attachment
from rerank_plugins.trees.dependency import read_conllu, write_conllu

__all__ = ["ParseCounts", "build_parser", "evaluate_parser", "parse_in_order", "write_parses"]


def build_parser(job: Job, name: str) -> CachedParser:
    """The parser that a command line names (NAME or NAME,option=value), or one of the config's `[parser]` tables."""
    if name in job.config.parser:
        made: CachedParser = job.builder.named_object("parser", name, "--parser")
        return made
    return CachedParser(job.builder.build("parser", plugin_table(name), f"--parser {name}"))


def write_parses(job: Job, parser: CachedParser, text: str | None, nbest: Sequence[Path], output: Path) -> ParseCounts:
    """Write the trees of a text (one sentence per line), or of the distinct hypotheses of lists, as CoNLL-U."""
    counts = ParseCounts()
    with ExitStack() as files:
        if text is not None:
            found = _lines(files.enter_context(open_text(text)))
        else:
            found = _distinct_hypotheses(stream_nbest(nbest, job.format))
        out = files.enter_context(open_atomic(output))
        progress = files.enter_context(CountingBar("sentences parsed"))
        names, sentences = tee(found)
        parses = parse_in_order(parser, (words for _, words in sentences), job.config.jobs, counts)
        for (name, _), (words, parse) in zip(names, parses, strict=True):
            if parse.dependencies is not None:
                out.write(write_conllu(parse.dependencies, {"sent_id": name, "text": " ".join(words)}))
            progress.add(1)
    return counts


def evaluate_parser(parser: Parser, gold: str) -> tuple[Attachment, int, float]:
    """Scores on a CoNLL-U file with gold trees, its sentences, and the CPU seconds of parsing (without loading)."""
    with open_text(gold) as lines:
        trees = list(read_conllu(lines, gold))
    if not trees:
        raise FormatError("the file holds no trees", path=gold)
    parser.parse([tree.words for tree in trees[:1]])  # loads the model
    started = time.process_time()
    parses = parser.parse([tree.words for tree in trees])
    seconds = time.process_time() - started
    scores = Attachment()
    for tree, parse in zip(trees, parses, strict=True):
        scores.add(tree, parse.dependencies)
    return scores, len(trees), seconds


def _lines(lines: Iterable[str]) -> Iterator[tuple[str, Words]]:
    """Line number and words of each line that has any."""
    for number, line in enumerate(lines, 1):
        if words := tuple(line.split()):
            yield str(number), words


def _distinct_hypotheses(nbests: Iterable[NBestList]) -> Iterator[tuple[str, Words]]:
    """Segment and rank (from 1), and words, of each hypothesis whose words have not been in the lists before."""
    seen: set[Words] = set()
    for nbest in nbests:
        for rank, text in enumerate(nbest.texts, 1):
            words = tuple(text.split())
            if words and words not in seen:
                seen.add(words)
                yield f"{nbest.segment_id}.{rank}", words
