"""`rerank words restore`: lists of insertions, reranked if there are weights, and the choice among them.

The list of a sentence has the best candidates for each of the most probable gaps. Its features are ln p of the gap by
each method of location, ln p of the word in the gap, and the parts of the latter; a hypothesis's score is the first of
each together, ln p(gap) + ln p(word | gap). Lists are sorted by that score.

The billion-word imputation task counts the characters in which a restored sentence differs from the complete one. A
wrong word then costs more than no word. With p(h) the probability of each restored sentence h of a list, the choice of
the fewest edits is

    argmin_c Σ_h p(h) d(c, h) + r (|c| - |s|)

among the sentences c of the list and the incomplete sentence s (minimum Bayes risk). r is the probability of all
restorations that the list lacks: to these, an insertion of k characters is taken to add k edits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import numpy as np

from rerank_adapters.applications.missing_words.accuracy import answered, print_accuracies, top_accuracies
from rerank_adapters.applications.missing_words.fill import Filling, filling_source
from rerank_adapters.applications.missing_words.incomplete import Incomplete, parse_incomplete, row_lines
from rerank_adapters.applications.missing_words.locate import Locating
from rerank_adapters.applications.missing_words.options import (
    accuracy_option,
    candidates_option,
    in_batches,
    method_option,
    model_option,
    ngram_option,
)
from rerank_adapters.commands.options import jobs_option, output_file, output_option
from rerank_adapters.commands.summary_line import SummaryLine
from rerank_adapters.formats.writing import open_lists
from rerank_adapters.runtime.progress import CountingBar, counted
from rerank_adapters.weights import Weights, read_weights
from rerank_plugins import Hypothesis, NBestList, Rescored
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.json_and_toml import json_line
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.core.registry import Registry
from rerank_plugins.kit.files.text import display_name, open_atomic, open_text

if TYPE_CHECKING:
    from rerank_adapters.chain.job import Job
    from rerank_plugins.missing_words.model import Method


DIGITS = 6  # of a feature after the point
COLUMNS = ("sentence", "position", "word", "score", "restored")


@dataclass(frozen=True)
class Inserting(PickledFields):
    """The task for a batch of sentences: their n-best lists, `gaps` × `words` hypotheses each (0 gaps: all gaps).

    A sentence whose gap is known keeps that gap alone where `at_known_gaps` is set.
    """

    locating: Locating
    filling: Filling
    gaps: int
    words: int
    at_known_gaps: bool = False

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        from rerank_plugins.missing_words.model import METHODS

        methods = [self.locating.method, *(method for method in METHODS if method != self.locating.method)]
        return (*(f"location-{method}" for method in methods), "filling", *self.filling.parts)

    def __call__(self, batch: list[Incomplete]) -> list[NBestList]:
        """The list of each sentence; its id is that of the sentence."""
        from rerank_plugins.missing_words.model import METHODS

        model, method = self.locating.model, self.locating.method
        sentences = [sentence.words for sentence in batch]
        located = {name: model.locate(sentences, name) for name in METHODS}
        others = [located[name] for name in METHODS if name != method]
        chosen: list[list[int]] = []
        for sentence, ln_p in zip(batch, located[method], strict=True):
            if self.at_known_gaps and sentence.gap is not None:
                chosen.append([sentence.gap])
            else:
                chosen.append(np.argsort(-ln_p, kind="stable")[: self.gaps or None].tolist())
        owners = [number for number, gaps in enumerate(chosen) for _ in gaps]
        flat = [gap for gaps in chosen for gap in gaps]
        filled = self.filling.fill([batch[owner] for owner in owners], flat, self.words)
        hypotheses: list[list[Hypothesis]] = [[] for _ in batch]
        for owner, gap, candidates in zip(owners, flat, filled, strict=True):
            at = float(located[method][owner][gap])
            by_others = [float(ln_p[owner][gap]) for ln_p in others]
            for candidate in candidates:
                features = tuple(round(value, DIGITS) for value in (at, *by_others, candidate.ln_p, *candidate.parts))
                text = batch[owner].restored(gap, candidate.word)
                hypotheses[owner].append(Hypothesis(text, features, round(at + candidate.ln_p, DIGITS)))
        return [
            NBestList(
                sentence.id,
                tuple(sorted(insertions, key=lambda one: -(one.score or 0.0))),
                self.names,
                line=sentence.line,
            )
            for sentence, insertions in zip(batch, hypotheses, strict=True)
        ]


def least_edits(incomplete: str, restored: Sequence[str], scores: FloatArray, rest: float) -> int:
    """The position of the choice in `restored`, or -1 for the incomplete sentence.

    `scores` (n) are ln p of the restored sentences up to a constant; `rest`, from 0 to 1, is the probability of others.
    """
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    choices = [*restored, incomplete]
    p = np.exp(scores - np.max(scores))
    p *= (1 - rest) / p.sum()
    distances = cdist(choices, restored, scorer=Levenshtein.distance, dtype=np.int32)
    added = np.array([len(choice) - len(incomplete) for choice in choices])
    best = int(np.argmin(distances @ p + rest * added))
    return best if best < len(restored) else -1


class Restored(NamedTuple):
    """An incomplete sentence, the list of its insertions, and their new order if weights gave one.

    `fewest_edits` is whether the choice is that of the least expected edit distance, not the most probable.
    """

    sentence: Incomplete
    nbest: NBestList
    rescored: Rescored | None
    fewest_edits: bool = False

    def order(self) -> list[int]:
        """The rows of the list, the best first."""
        return list(range(len(self.nbest))) if self.rescored is None else list(self.rescored.order)

    def scores(self) -> FloatArray:
        """(n) the scores of the list: those of the weights, or ln p(gap) + ln p(word | gap)."""
        return self._ln_p() if self.rescored is None else self.rescored.scores

    def _ln_p(self) -> FloatArray:
        return np.array([hypothesis.score or 0.0 for hypothesis in self.nbest])

    def choice(self) -> int | None:
        """The row of the restored sentence; None where the sentence is left as it is."""
        if not self.fewest_edits:
            return self.order()[0]
        rest = max(0.0, 1.0 - float(np.exp(self._ln_p()).sum()))
        row = least_edits(" ".join(self.sentence.words), self.nbest.texts, self.scores(), rest)
        return None if row < 0 else row

    def details(self) -> tuple[str, int | None, str | None, float | None]:
        """The restored sentence, the position (from 1) and the word that was inserted, and the score."""
        row, words = self.choice(), self.sentence.words
        if row is None:
            return " ".join(words), None, None, None
        text = self.nbest[row].text
        after = text.split()
        place = next((i for i, word in enumerate(words) if after[i] != word), len(words))
        return text, place + 1, after[place], float(self.scores()[row])

    def text(self) -> str:
        """The restored sentence."""
        return self.details()[0]


@dataclass(frozen=True)
class Restoring:
    """How sentences are restored: their insertions, and the weights that choose among these, if there are any."""

    job: Job
    weights: Weights | None
    inserting: Inserting
    fewest_edits: bool = False

    def restored(self, sentences: Iterable[Incomplete]) -> Iterator[Restored]:
        """Yield each sentence with its insertions, in order and in bounded memory."""
        from rerank_adapters.chain.apply import apply_weights
        from rerank_adapters.chain.extract import stream_tables

        pairs = in_batches(self.inserting, sentences, self.job.config.jobs)
        if self.weights is None:
            yield from (Restored(sentence, nbest, None, self.fewest_edits) for sentence, nbest in pairs)
            return
        ours, theirs = tee(pairs)
        tables = stream_tables(self.job, (nbest for _, nbest in theirs))
        for (sentence, _), (nbest, rescored) in zip(ours, apply_weights(self.job, self.weights, tables), strict=True):
            yield Restored(sentence, nbest, rescored, self.fewest_edits)

    def write(self, sentences: Iterable[Incomplete], form: str, output: Path, nbest_out: Path | None) -> int:
        """Write the best restored sentences in a form, and all of them to `nbest_out`; returns their number."""
        with ExitStack() as files:
            out = files.enter_context(open_atomic(output))
            restored = self._with_lists(self.restored(sentences), nbest_out, files)
            bar = CountingBar("sentences restored")  # with weights, the bar of the extraction is shown
            if self.weights is None:
                files.enter_context(bar)
            out.writelines(LAYOUTS[form](bar.over(restored)))
        return bar.done

    def report_accuracies(self, sentences: Iterable[Incomplete], name: str, form: str, nbest_out: Path | None) -> int:
        """Print how often the complete sentence is among the first ones; returns the number of sentences."""
        from rerank_adapters.chain.overlap import warn_of_tuned

        ranks, references = [], list[tuple[str]]()
        with ExitStack() as files:
            for one in self._with_lists(self.restored(answered(sentences, name)), nbest_out, files):
                texts, complete = [one.nbest[row].text for row in one.order()], one.sentence.complete
                references.append((complete or "",))
                ranks.append(texts.index(complete) if complete in texts else None)
        if self.weights is not None:
            warn_of_tuned(self.weights.provenance, references, name)
        print_accuracies("Restored sentences", {"restored": top_accuracies(ranks)}, len(ranks), form)
        return len(ranks)

    def _with_lists(self, restored: Iterable[Restored], nbest_out: Path | None, files: ExitStack) -> Iterator[Restored]:
        """Yield the restored sentences, each after its list was written."""
        out = files.enter_context(open_lists(nbest_out, self.job.format)) if nbest_out else None
        for one in restored:
            if out is not None:
                out.write(one.nbest, one.rescored)
            yield one


def _as_text(restored: Iterable[Restored]) -> Iterator[str]:
    for one in restored:
        yield one.text() + "\n"


def _as_table(restored: Iterable[Restored]) -> Iterator[str]:
    yield "\t".join(COLUMNS) + "\n"
    for one in restored:
        text, position, word, score = one.details()
        cells = (position or "", word or "", "" if score is None else f"{score:.6g}")
        yield "\t".join(map(str, (one.sentence.id, *cells, text))) + "\n"


def _as_json(restored: Iterable[Restored]) -> Iterator[str]:
    for one in restored:
        text, position, word, score = one.details()
        record = {"sentence": one.sentence.id, "position": position, "word": word, "score": score, "restored": text}
        yield json_line(record) + "\n"


def _as_rows(restored: Iterable[Restored]) -> Iterator[str]:
    return row_lines((one.sentence.id, one.text()) for one in restored)


LAYOUTS = {"text": _as_text, "tsv": _as_table, "json": _as_json, "imputation": _as_rows}


@click.command("restore")
@click.argument("text", default="-")
@model_option
@method_option
@ngram_option
@candidates_option
@click.option("--max-gaps", "gaps", type=click.IntRange(0), default=5, show_default=True, metavar="N",
              help="Fill the N most probable gaps of each sentence; 0 fills all.")  # fmt: skip
@click.option("--top", "words", type=click.IntRange(1), default=10, show_default=True, metavar="K",
              help="Fill each gap with its K most probable words.")  # fmt: skip
@click.option("-w", "--weights", type=Path, metavar="FILE",
              help="Choose among the restored sentences by these weights, which record their features.")  # fmt: skip
@click.option("--decision", type=click.Choice(["likeliest", "fewest-edits"]), default="likeliest", show_default=True,
              help="Choose the most probable restoration, or that of the least expected edit distance in characters, "
                   "which leaves a sentence as it is where every word is probably wrong.")  # fmt: skip
@click.option("--as", "form", type=click.Choice(list(LAYOUTS)), default="text", show_default=True,
              help="Print restored sentences, a line with the details of each, JSON objects, or CSV as a submission to "
                   "the billion-word imputation task.")  # fmt: skip
@click.option("--nbest-out", type=output_file, metavar="FILE",
              help="Also write all restored sentences, as n-best lists with their features.")  # fmt: skip
@accuracy_option
@output_option("Write the sentences to this file.")
@jobs_option
@click.pass_obj
def command(
    registry: Registry, text: str, model: Path, method: Method, ngram: Path | None, candidates: int | None, gaps: int,
    words: int, weights: Path | None, decision: str, form: str, nbest_out: Path | None, accuracy: bool, output: Path,
    jobs: int | None,
) -> None:  # fmt: skip
    """Restore the missing word of each sentence of a TEXT.

    The most probable gaps are filled with their most probable words, and the sentence of the highest ln p(gap) + ln
    p(word | gap) is printed. All insertions form an n-best list (--nbest-out), so that any feature can rerank them:
    weights tuned on such lists are used with -w. TEXT has the same forms as for `rerank words locate`.

    \b
    rerank words restore test.csv -M news.mw --as imputation \\
        --decision fewest-edits -o submission.csv
    rerank words restore dev.incomplete -M news.mw --nbest-out dev.nbest
    rerank tune dev.nbest -r dev.ref -m accuracy -f ngram-lm,model=lm.ngram \\
        -o weights.toml
    rerank words restore test.incomplete -M news.mw -w weights.toml
    """  # noqa: D301
    from rerank_adapters.chain.job import Job
    from rerank_adapters.chain.provenance import recorded_job
    from rerank_adapters.config import Config

    summary_line = SummaryLine()
    filling = filling_source(model, ngram, candidates, words)
    locating = Locating(model, method, gaps)
    locating.load()
    job, tuned = Job.create(Config(), registry), read_weights(weights) if weights is not None else None
    if weights is not None and tuned is not None:
        job = recorded_job(tuned.provenance, weights, registry)
    job = job.changed(jobs=jobs)
    inserting = Inserting(locating, filling, gaps, words)
    restoring = Restoring(job, tuned, inserting, decision == "fewest-edits")
    with open_text(text) as lines:
        sentences = parse_incomplete(lines, display_name(text))
        if accuracy:
            number = restoring.report_accuracies(sentences, display_name(text), form, nbest_out)
        else:
            number = restoring.write(sentences, form, output, nbest_out)
    if nbest_out is not None:
        summary_line.wrote(counted(number, "n-best list"), nbest_out)
    if not accuracy:
        summary_line.wrote(counted(number, "restored sentence"), output)
