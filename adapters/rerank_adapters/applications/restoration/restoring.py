"""Restores sentences: makes lists of insertions, reranks them if there are weights, and writes the results.

Chooses the restoration of the least expected edit distance, which may be the incomplete sentence itself.

The billion-word imputation task counts the characters in which a restored sentence differs from the complete one. A
wrong word then costs more than no word. With p(h) the probability of each restored sentence h of a list, the choice is

    argmin_c Σ_h p(h) d(c, h) + r (|c| - |s|)

among the sentences c of the list and the incomplete sentence s (minimum Bayes risk). r is the probability of all
restorations that the list lacks: to these, an insertion of k characters is taken to add k edits.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import tee
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rerank_adapters.applications.restoration.accuracy import accuracy_records, accuracy_table, top_accuracies
from rerank_adapters.applications.restoration.imputation_file import row_lines
from rerank_adapters.applications.restoration.incomplete import Incomplete
from rerank_adapters.applications.restoration.insertions import Inserting
from rerank_adapters.applications.restoration.locating_accuracy import answered
from rerank_adapters.applications.restoration.sharing import in_batches
from rerank_adapters.chain.apply import apply_weights
from rerank_adapters.chain.extract import stream_tables
from rerank_adapters.chain.job import Job
from rerank_adapters.chain.provenance import recorded_job
from rerank_adapters.config import Config
from rerank_adapters.report.output import write_records
from rerank_adapters.runtime.progress import CountingBar
from rerank_adapters.weights import Weights, read_weights
from rerank_plugins import NBestList, Rescored
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.registry import Registry
from rerank_plugins.kit.files.text import open_atomic


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


COLUMNS = ("sentence", "position", "word", "score", "restored")


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

    @classmethod
    def create(
        cls, config: Config, registry: Registry, weights: Path | None, inserting: Inserting, fewest_edits: bool
    ) -> Restoring:
        """The job of the config, or of the weights' record. Raises ConfigError for weights that cannot be read."""
        job = Job.create(config, registry)
        if weights is None:
            return cls(job, None, inserting, fewest_edits)
        tuned = read_weights(weights)
        recorded = recorded_job(tuned.provenance, weights, registry)
        return cls(recorded.with_config({"jobs": config.jobs}), tuned, inserting, fewest_edits)

    def restored(self, sentences: Iterable[Incomplete]) -> Iterator[Restored]:
        """Yield each sentence with its insertions, in order and in bounded memory."""
        pairs = in_batches(self.inserting, sentences, self.job.config.jobs, "the model")
        if self.weights is None:
            yield from (Restored(sentence, nbest, None, self.fewest_edits) for sentence, nbest in pairs)
            return
        ours, theirs = tee(pairs)
        tables = stream_tables(self.job, (nbest for _, nbest in theirs))
        for (sentence, _), (nbest, rescored) in zip(ours, apply_weights(self.job, self.weights, tables), strict=True):
            yield Restored(sentence, nbest, rescored, self.fewest_edits)

    def write(self, sentences: Iterable[Incomplete], layout: str, output: Path, nbest_out: Path | None) -> int:
        """Write the best restored sentences in a layout, and all of them to `nbest_out`; returns their number."""
        with ExitStack() as files:
            out = files.enter_context(open_atomic(output))
            restored = self._with_lists(self.restored(sentences), nbest_out, files)
            bar = None if self.weights else files.enter_context(CountingBar("sentences restored"))
            number = 0

            def counted() -> Iterator[Restored]:
                nonlocal number
                for one in restored:
                    yield one
                    number += 1
                    if bar is not None:
                        bar.add(1)

            if layout == "imputation":
                out.writelines(row_lines((one.sentence.id, one.text()) for one in counted()))
            else:
                writer = {"text": _as_text, "tsv": _as_table, "json": _as_json}[layout]
                out.writelines(writer(counted()))
        return number

    def report_accuracies(
        self, sentences: Iterable[Incomplete], name: str, style: str, output: Path, nbest_out: Path | None
    ) -> int:
        """Write how often the complete sentence is among the first ones; returns the number of sentences."""
        ranks = []
        with ExitStack() as files:
            for one in self._with_lists(self.restored(answered(sentences, name)), nbest_out, files):
                texts, complete = [one.nbest[row].text for row in one.order()], one.sentence.complete
                ranks.append(texts.index(complete) if complete in texts else None)
        records = accuracy_records({"restored": top_accuracies(ranks)}, len(ranks))
        write_records(records, [accuracy_table("Restored sentences", records)], style, output)
        return len(ranks)

    def _with_lists(self, restored: Iterable[Restored], nbest_out: Path | None, files: ExitStack) -> Iterator[Restored]:
        """Yield the restored sentences, each after its list was written."""
        out = files.enter_context(open_atomic(nbest_out)) if nbest_out else None
        for one in restored:
            if out is not None:
                out.writelines(self.job.format.write(one.nbest, one.rescored))
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
        yield json.dumps(record, ensure_ascii=False) + "\n"
