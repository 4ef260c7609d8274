"""`rerank parse`: parses the sentences of a text or of n-best lists, and writes CoNLL-U or brackets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import tee
from pathlib import Path

from rerank_adapters.chain.job import Job
from rerank_adapters.chain.parse_pool import ParseCounts, Words, parse_in_order
from rerank_adapters.formats.reading import stream_nbest
from rerank_adapters.runtime.progress import CountingBar
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, NBestList, Parse
from rerank_plugins.core.dependency_tree import write_conllu
from rerank_plugins.kit.files.cached_parser import CachedParser
from rerank_plugins.kit.files.text import open_atomic, open_text
from rerank_plugins.kit.trees.k_best_file import write_scored

KINDS = {"conllu": "dependencies", "brackets": "constituents"}


def write_parses(
    job: Job,
    parser: CachedParser,
    text: str | None,
    nbest: Sequence[Path],
    steps: TextPipeline,
    output: Path,
    kind: str | None = None,
    k_best: bool = False,
) -> ParseCounts:
    """Write the trees of a text (one sentence per line), or of the distinct hypotheses of lists, after text steps.

    `kind` is "conllu" or "brackets"; with None, the first sentence that has a parse decides. `k_best` writes all
    constituency trees with their ln p. Raises ConfigError for a kind of tree that the parser does not produce.
    """
    counts = ParseCounts()
    kind = "brackets" if k_best else kind
    with ExitStack() as files:
        if text is not None:
            named = _lines(files.enter_context(open_text(text)), steps)
        else:
            named = _distinct_hypotheses(stream_nbest(nbest, job.format), steps)
        out = files.enter_context(open_atomic(output))
        progress = files.enter_context(CountingBar("sentences parsed"))
        names, sentences = tee(named)
        parses = parse_in_order(parser, (words for _, words in sentences), job.config.jobs, counts)
        empty = 0  # number of sentences without a parse before the first sentence that has one
        for (name, _), (words, parse) in zip(names, parses, strict=True):
            progress.add(1)
            if kind is None:
                if parse.is_empty:
                    empty += 1
                    continue
                kind = "conllu" if parse.dependencies is not None else "brackets"
                out.write("\n" * empty if kind == "brackets" else "")
            comments = {"sent_id": name, "text": " ".join(words)}
            if parser.vocabulary is not None and (unknown := [word for word in words if word not in parser.vocabulary]):
                comments["unknown_words"] = " ".join(unknown)
                counts.unknown += len(unknown)
            out.write(_written(comments, parse, kind, k_best))
    return counts


def _written(comments: dict[str, str], parse: Parse, kind: str, k_best: bool) -> str:
    """The lines of a sentence with its comments; without a parse none in CoNLL-U, and an empty one in brackets."""
    has_kind = parse.dependencies is not None if kind == "conllu" else bool(parse.constituents)
    if not has_kind and not parse.is_empty:
        other = "brackets" if kind == "conllu" else "conllu"
        raise ConfigError(f"the parser produces no {KINDS[kind]}: --trees {other} writes what it produces")
    if kind == "conllu":
        tree = parse.dependencies
        return "" if tree is None else write_conllu(tree, comments)
    if k_best:
        return "".join(write_scored(comments["sent_id"], *scored) for scored in parse.constituents)
    return f"{parse.tree}\n" if parse.tree else "\n"


def _lines(lines: Iterable[str], steps: TextPipeline) -> Iterator[tuple[str, Words]]:
    """The number (from 1) and the words of each line that has words."""
    for number, line in enumerate(lines, 1):
        if words := tuple(steps.apply([line.rstrip("\r\n")])[0].split()):
            yield str(number), words


def _distinct_hypotheses(nbests: Iterable[NBestList], steps: TextPipeline) -> Iterator[tuple[str, Words]]:
    """Segment and rank (from 1), and the words, of each hypothesis whose words no earlier hypothesis had."""
    seen: set[Words] = set()
    for nbest in nbests:
        for rank, text in enumerate(steps.apply(nbest.texts), 1):
            words = tuple(text.split())
            if words and words not in seen:
                seen.add(words)
                yield f"{nbest.segment_id}.{rank}", words
