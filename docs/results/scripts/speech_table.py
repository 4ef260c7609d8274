"""Print what the features contribute to the second pass of speech recognition (docs/results/speech.md).

Each file LISTS has n-best lists of utterances with their transcripts, as JSON lines of HyPoradise. The utterances of even
and of odd number are the two halves: weights are tuned on one half and choose the hypotheses of the other one, and the
choices of both are scored together, so that every utterance is reranked by weights that never saw it. Weights are tuned
for word errors, from uniform ones.

The systems add features to each other: the order of the recogniser (its scores too, where the lists have them) and the
length; agreement within the list (consensus and word posteriors); the n-gram model; spelling, that is a model of
characters and word frequencies; to these, one family of embedded models at a time; everything. Each half has one tuner
for all systems: the one that is best, on the average of some of them, by five-fold cross-validation within this half.
`chosen` takes the system and the tuner that are best there. `everything, MBR` decides by minimum Bayes risk. The table
has the word error rate, the substitutions, deletions and insertions, the difference to the recogniser's first hypotheses
with its 95 % interval, the p-values of the paired bootstrap, of approximate randomisation and of the matched-pairs test
(MAPSSWE), and the share of the distance to the oracle that is covered.

The models are read from files (--ngram, --characters), or trained on files (--train, --train-characters: Penn-style
tokens, one sentence per line), which are normalised to what recognisers write: lower case, no punctuation.
--frequencies takes the word frequencies of the package wordfreq.

\b
    python -m docs.results.scripts.speech_table commonvoice_test.jsonl --train novels.txt.xz
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import click
import numpy as np

from docs.results.scripts.experiment import FILE, Listed, experiment, named_values, say
from docs.results.scripts.spoken_text import train_on_spoken, write_frequencies
from rerank_adapters.builtin import BUILTIN
from rerank_adapters.cli.main import log_on_stderr
from rerank_adapters.data.dataset import Dataset
from rerank_adapters.evaluation import Evaluation, SegmentFacts, evaluate
from rerank_adapters.formats.decoder_features import decoder_table
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.job.config import Config
from rerank_adapters.job.job import Job
from rerank_adapters.job.specs import plugin_table
from rerank_adapters.report.tables import Table
from rerank_adapters.report.text import markdown_table
from rerank_adapters.texts.pairing import for_segments
from rerank_adapters.texts.reading import read_texts
from rerank_adapters.tuning.cross_validation import cross_validate
from rerank_adapters.tuning.problem import chosen_rows, prepare, problem_of, take_segments
from rerank_adapters.tuning.start import start_vector
from rerank_plugins import FeatureTable, RerankError, Tuner, TuningData
from rerank_plugins.core.arrays import LongArray
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.kit.backoff.smoothing import parse_prune
from rerank_plugins.ngram.training import NgramSettings

FOLDS, SEEDS = 5, (1,)  # of the cross-validation within a half
BEST_FIRST, CHOSEN = "1-best", "chosen"
MBR = "MBR"
TUNERS = {  # five hypotheses make ten pairs
    "PRO": "pro,rounds=4,pairs=40,kept=10",
    "MIRA": "mira",
    "expected risk": "expected-risk",
    MBR: "mbr",
}
PLAIN, AGREEING, WITH_NGRAM, WITH_SPELLING = "rank, length", "+ consensus", "+ n-gram", "+ spelling"
EVERYTHING = "everything"
CANDIDATES = (PLAIN, WITH_NGRAM, WITH_SPELLING, EVERYTHING)  # by which cross-validation chooses
ORDER = {"rank": "reciprocal-rank", "first": "reciprocal-rank,power=8", "length": "length"}
SCORE = {"score": "decoder-score"}
CONSENSUS = {"consensus": "consensus,posterior=rank"}
POSTERIORS = {"posteriors": "word-posteriors,posterior=rank"}
FAMILIES = {  # the options that follow say how text is read
    "unigram": {"unigram": "unigram"},
    "dependency": {"dependency": "dependency-lm"},
    "treelet": {"treelet": "treelet-lm", "slr": "slr"},
    "hhmm": {"hhmm": "hhmm-lm,beam=50"},
    "svs": {"svs": "svs-similarity,posterior=rank"},
}
OF_CHARACTERS = NgramSettings(6, prune=(0, 0, 0, 0, 1))


@dataclass(frozen=True)
class System:
    """A row of the table: the labels of its features, and the name of its tuner ("": that of the half)."""

    labels: frozenset[str]
    tuner: str = ""


class Lists:
    """The lists of a file with their transcripts, and the features of all systems, each extracted once."""

    def __init__(self, file: Path, specs: Mapping[str, str]) -> None:
        features = [{**plugin_table(spec), "label": label} for label, spec in specs.items()]
        self.job = Job.of(
            Config(nbest={"use": "hyporadise"}, metric=[{"use": "wer"}], feature=features), load_plugins(BUILTIN)
        )
        self.nbests = read_nbest([file], self.job.format)
        references = for_segments([read_texts(file, "reference")], [nbest.segment_id for nbest in self.nbests])
        if len(self.nbests) < 4 * FOLDS:
            raise RerankError(f"{file}: found {len(self.nbests)} utterances, expected {4 * FOLDS} or more")
        if all(hypothesis.score is not None for nbest in self.nbests for hypothesis in nbest):
            features.append({**plugin_table(SCORE["score"]), "label": "score"})
            self.job = self.job.changed(feature=features)
        self.data = Dataset(file.stem, self.nbests, references)
        table = self.job.extraction().table(self.nbests, decoder_table(self.nbests))
        self.whole = problem_of(self.nbests, references, table, self.job.measures[0], self.job.config.tuning)

    def with_only(self, labels: frozenset[str]) -> TuningData:
        """The data with the features of these labels alone."""
        table = self.whole.table
        kept = np.array([name.partition(".")[0] in labels for name in table.names])
        names = tuple(name for name, keep in zip(table.names, kept, strict=True) if keep)
        narrow = FeatureTable.dense(names, table.values[:, kept], table.offsets)
        return prepare(narrow, self.whole.statistics, self.whole.metric, hypotheses=self.whole.hypotheses)

    def half(self, parity: int) -> LongArray:
        """The utterances of even (0) or odd (1) number."""
        return np.arange(parity, len(self.nbests), 2)

    def texts(self, rows: LongArray) -> list[str]:
        """The hypotheses in these rows, one for each utterance."""
        positions = rows - self.whole.table.offsets[:-1]
        return [nbest[position].text for nbest, position in zip(self.nbests, positions.tolist(), strict=True)]


class SecondPass:
    """The choices of systems in a file's lists, each half by weights of the other one."""

    def __init__(self, lists: Lists, systems: Mapping[str, System]) -> None:
        self.lists, self.systems = lists, systems
        self.tuners: dict[str, Tuner] = {
            name: lists.job.changed(tuner=plugin_table(spec)).tuner for name, spec in TUNERS.items()
        }

    def choices(self, system: System, tuned: LongArray, tested: LongArray) -> LongArray:
        """(tested): the row that the system chooses in each list of the half that was not tuned on."""
        data = self.lists.with_only(system.labels)
        half = take_segments(data, tuned)
        result = self.tuners[system.tuner].tune(half, start_vector(half.table, "uniform"), np.random.default_rng(1))
        other = take_segments(data, tested)
        within = chosen_rows(other, result) - other.table.offsets[:-1]
        rows: LongArray = data.table.offsets[:-1][tested] + within
        return rows

    def held_out(self, system: System, tuned: LongArray) -> float:
        """The word error rate of cross-validation within a half."""
        half = take_segments(self.lists.with_only(system.labels), tuned)
        tuner = {system.tuner: self.tuners[system.tuner]}
        return cross_validate(half, tuner, start_vector(half.table, "uniform"), FOLDS, SEEDS).best.mean

    def outputs(self, systems: Sequence[System]) -> list[str]:
        """One hypothesis for each utterance, by the systems that are tuned on the two halves."""
        rows = np.zeros(len(self.lists.nbests), np.int64)
        for parity, system in enumerate(systems):
            tested = self.lists.half(1 - parity)
            rows[tested] = self.choices(system, self.lists.half(parity), tested)
        return self.lists.texts(rows)

    @cached_property
    def held_out_rates(self) -> list[dict[tuple[str, str], float]]:
        """For each half, the word error rates of cross-validation within it, by the names of candidates and tuners."""
        tried = [(name, tuner) for name in CANDIDATES if name in self.systems for tuner in self.tuners if tuner != MBR]
        return [
            {
                (name, tuner): self.held_out(System(self.systems[name].labels, tuner), self.lists.half(parity))
                for name, tuner in tried
            }
            for parity in (0, 1)
        ]

    def tuner_of(self, parity: int) -> str:
        """The tuner whose held-out rates are the lowest on the average of the candidates; it is said on stderr."""
        rates = self.held_out_rates[parity]
        means = {
            tuner: float(np.mean([rate for (_, other), rate in rates.items() if other == tuner])) for _, tuner in rates
        }
        best = min(means, key=lambda tuner: means[tuner])
        say(f"{self.lists.data.name}, half {parity}: " + ", ".join(f"{t} {rate:.2f}" for t, rate in means.items()))
        return best

    def chosen(self, parity: int) -> System:
        """The system, with the tuner, that cross-validation within the half prefers; it is said on stderr."""
        rates = self.held_out_rates[parity]
        (name, tuner) = min(rates, key=lambda pair: rates[pair])
        say(f"{self.lists.data.name}, half {parity}: chosen {name}, {tuner}: {rates[name, tuner]:.2f} held out")
        return System(self.systems[name].labels, tuner)


def systems_of(
    families: Mapping[str, Mapping[str, str]], ngram: Sequence[str], spelling: Sequence[str], scored: bool
) -> dict[str, System]:
    """The rows of the table by name, without the recogniser's first hypotheses and the chosen system."""
    order = {*ORDER, *(SCORE if scored else ())}
    agreeing = order | {*CONSENSUS, *POSTERIORS}
    base = agreeing | {*ngram, *spelling}
    everything = base.union(*families.values())
    systems = {
        PLAIN: order,
        AGREEING: agreeing,
        **({WITH_NGRAM: agreeing | {*ngram}} if ngram else {}),
        **({WITH_SPELLING: base} if spelling else {}),
        **{f"  and {name}": base | {*labels} for name, labels in families.items()},
        EVERYTHING: everything,
    }
    rows = {name: System(frozenset(labels)) for name, labels in systems.items()}
    return {**rows, f"{EVERYTHING}, {MBR}": System(frozenset(everything), MBR)}


def table_of(evaluation: Evaluation) -> Table:
    """The rows of the table, the oracle's last."""
    result = evaluation.metrics[0]
    assert result.oracle is not None
    first = result.systems[0].score
    rows = []
    for score, errors in zip(result.systems, result.errors, strict=True):
        kinds = f"{errors.substitutions}, {errors.deletions}, {errors.insertions}"
        line = [score.system, f"{score.score:.2f}", kinds, "", "", "", ""]
        if (against := score.comparison) is not None and against.interval and errors.matched_pairs:
            line[3:5] = [f"{against.difference:+.2f}", f"{against.interval.low:+.2f} to {against.interval.high:+.2f}"]
            p_values = (against.bootstrap_p, against.randomisation_p, errors.matched_pairs.p)
            line[5] = ", ".join("none" if p is None else f"{p:.3f}" for p in p_values)
            line[6] = f"{(first - score.score) / max(first - result.oracle.best, 1e-9):.0%}"
        rows.append(tuple(line))
    rows.append(("oracle", f"{result.oracle.best:.2f}", "", f"{result.oracle.best - first:+.2f}", "", "", ""))
    header = ("system", "WER", "S, D, I", "difference", "95 % interval", "p", "of the oracle")
    return Table("WER", header, tuple(rows))


@experiment("speech_table", __doc__)
@click.argument("lists", type=FILE, nargs=-1, required=True, metavar="LISTS...")
@click.option("--ngram", type=FILE, multiple=True, help="An n-gram model of normalised text (repeatable).")
@click.option("--train", type=FILE, multiple=True, help="Train an n-gram model on this text (repeatable).")
@click.option("--order", default=5, help="The order of the n-gram model that is trained.")
@click.option("--prune", default="0", help="The cut-offs of the n-gram model, as of `rerank train ngram`.")
@click.option("--min-count", default=1, help="Treat rarer words as unknown in the n-gram model.")
@click.option("--characters", type=FILE, multiple=True, help="An n-gram model of characters of such text (repeatable).")
@click.option("--train-characters", type=FILE, multiple=True, help="Train one of order 6 on this text (repeatable).")
@click.option(
    "--text", default="restore-sentence+penn-tokenize", help="The steps by which the embedded models read text."
)
@click.option("--families", type=Listed(str, FAMILIES), default=tuple(FAMILIES), show_default=",".join(FAMILIES),
              help="The families of embedded models in the table.")  # fmt: skip
@click.option(
    "--add", "added", multiple=True, metavar="NAME=FEATURE", help="Another family of one feature (repeatable)."
)
@click.option("--frequencies", is_flag=True, help="Add the word frequencies of the package wordfreq to the spelling.")
@click.option("--tuner", type=click.Choice([*TUNERS]), help="The tuner of all rows. Default: by cross-validation.")
def main(
    lists: tuple[Path, ...], ngram: tuple[Path, ...], train: tuple[Path, ...], order: int, prune: str, min_count: int,
    characters: tuple[Path, ...], train_characters: tuple[Path, ...], text: str,
    families: tuple[str, ...], added: tuple[str, ...], frequencies: bool, tuner: str | None,
) -> None:  # fmt: skip
    """Extract the features, tune and compare all systems, and print a table for each file."""
    with tempfile.TemporaryDirectory() as folder, log_on_stderr():  # which says what each feature took
        models = list(ngram)
        if train:
            models.append(Path(folder) / "spoken.ngram")
            settings = NgramSettings(order, prune=parse_prune(prune), min_count=min_count)
            train_on_spoken(train, settings, models[-1])
        spelling = list(characters)
        if train_characters:
            spelling.append(Path(folder) / "characters.ngram")
            train_on_spoken(train_characters, OF_CHARACTERS, spelling[-1], spelt=True)
        used = {
            name: {label: f"{spec},text={text}" if text else spec for label, spec in FAMILIES[name].items()}
            for name in families
        }
        for name, spec in named_values(added, "NAME=FEATURE").items():
            used[name] = {name: spec}
        ngrams = {f"ngram{number}": f"ngram-lm,model={model.resolve()}" for number, model in enumerate(models, 1)}
        spelt = {
            f"characters{number}": f"ngram-lm,model={model.resolve()},text=characters"
            for number, model in enumerate(spelling, 1)
        }
        if frequencies:
            write_frequencies(Path(folder) / "frequencies.arpa")
            spelt["frequencies"] = f"unigram,model={folder}/frequencies.arpa,text=penn-tokenize"
        specs = {**ORDER, **CONSENSUS, **POSTERIORS, **ngrams, **spelt}
        for family in used.values():
            specs.update(family)
        for file in lists:
            started = time.process_time()
            read = Lists(file, specs)
            systems = systems_of(used, [*ngrams], [*spelt], "score" in read.job.labels)
            second = SecondPass(read, systems)
            tuners = [tuner or second.tuner_of(parity) for parity in (0, 1)]
            outputs = {BEST_FIRST: [nbest[0].text for nbest in read.nbests]}
            for name, system in systems.items():
                outputs[name] = second.outputs([System(system.labels, system.tuner or other) for other in tuners])
                if name == EVERYTHING and tuner is None:
                    outputs[CHOSEN] = second.outputs([second.chosen(parity) for parity in (0, 1)])
            evaluation = evaluate(
                outputs,
                read.data.references,
                {"WER": read.whole.metric},
                facts=SegmentFacts(nbests=[n.texts for n in read.nbests]),
            )
            print(f"{file.stem}: {len(read.nbests)} utterances, tuned by {' and '.join(tuners)}\n")
            print(markdown_table(table_of(evaluation)))
            print(f"{time.process_time() - started:.0f} s of CPU in this process\n", flush=True)


if __name__ == "__main__":
    main()
