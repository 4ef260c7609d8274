"""Print what the combination of the systems of a WMT task is worth, beside its best system (docs/results/today.md).

ARCHIVE is a tar of a task's texts (sources, references, system-outputs; files like `newstest2021.de-en.hyp.NAME.en`).
Each PAIR is as `de-en`; by default all pairs are taken that the archive has. The outputs of all systems for a segment
are one list. The weights are tuned on the first half of the segments, for the mean of BLEU and chrF, and the second half
is reranked. The table compares with the system that has the highest BLEU on the first half: its scores on the second
half, and the differences, with 95 % intervals of the paired bootstrap.

\b
    `combined`     agreement with each system (chrF and BLEU), which systems have the hypothesis, n-gram consensus
    `+ language`   the same with n-gram and unigram models (into English), unknown words, and overlap with the source
    `+ syntax`     the same with the embedded syntactic models (with --syntax, into English)

Weights are used only where the 95 % interval of their gain over the chosen system, on held-out folds of the first half,
is above zero. --lists writes the lists, sources and references of one PAIR for `rerank run configs/wmt.toml`.

\b
    python -m docs.results.scripts.wmt_table wmt22.tar.xz de-en
    python -m docs.results.scripts.wmt_table wmt22.tar.xz de-en --lists work/wmt-lists
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
import numpy as np

from docs.results.scripts.experiment import FILE, experiment, say
from rerank_adapters import NBestList, Pipeline, evaluate, load
from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.combination import combine
from rerank_adapters.formats.writing import open_lists
from rerank_adapters.report.tables import Table
from rerank_adapters.report.text import markdown_table
from rerank_adapters.tuning.held_out import HeldOutGain
from rerank_plugins import ConfigError

NAME = re.compile(r"(?:sources|references|system-outputs)/\w+\.(\w+-\w+)\.(src|ref|hyp)(?:\.(.+))?\.(\w+)")
TUNER = {"use": "expected-risk", "l2": 0.03, "quenching": 0}
METRIC = {"use": "mean", "metrics": ["bleu", "chrf"]}
CONSENSUS = [{"use": "consensus", "posterior": "uniform", "text": "penn-tokenize"}]
ENGLISH = ("ngram-lm", "unigram", "oov-count", "untranslated")
SYNTAX = ("dependency-lm", "treelet-lm", "slr", "hhmm-lm,beam=50")


@dataclass(frozen=True)
class Task:
    """The texts of a language pair: sources, one or more references of each segment, and the systems' outputs."""

    source: list[str]
    references: list[list[str]]
    systems: dict[str, list[str]]

    def best_first(self, segments: range) -> Task:
        """The task with its systems ordered by BLEU on some segments, the best first."""
        bleu = load("bleu")
        references = [self.references[s] for s in segments]
        scores = {
            name: float(bleu.score(bleu.statistics([[texts[s]] for s in segments], references).sum(axis=0)))
            for name, texts in self.systems.items()
        }
        return replace(self, systems={name: self.systems[name] for name in sorted(scores, key=lambda n: -scores[n])})

    def lists(self) -> list[NBestList]:
        """The list of all systems' outputs for each segment, those of the first system first."""
        outputs = {name: self._lists_of_one(texts) for name, texts in self.systems.items()}
        return list(combine(outputs, [(name, load(name)) for name in ("chrf", "bleu")]))

    def _lists_of_one(self, texts: Sequence[str]) -> Iterator[NBestList]:
        """The lists of a system, which has one output for each segment."""
        for segment, (text, source) in enumerate(zip(texts, self.source, strict=True)):
            yield NBestList.from_texts([text], source=source, segment_id=str(segment))


def read_tasks(archive: Path) -> dict[str, Task]:
    """The tasks of an archive, by language pair; outputs of other numbers of lines than the source are left out."""
    texts: dict[str, dict[str, dict[str, list[str]]]] = {}
    with tarfile.open(archive) as files:
        for member in files:
            content = files.extractfile(member) if member.isfile() else None
            if content is not None and (match := NAME.search(member.name)):
                pair, kind, name, _ = match.groups()
                lines = content.read().decode("utf-8").removesuffix("\n").split("\n")
                texts.setdefault(pair, {}).setdefault(kind, {})[name or ""] = lines
    tasks = {}
    for pair, kinds in sorted(texts.items()):
        source = kinds.get("src", {}).get("", [])
        systems = {n: lines for n, lines in sorted(kinds.get("hyp", {}).items()) if len(lines) == len(source)}
        references = [list(r) for r in zip(*(kinds["ref"][n] for n in sorted(kinds.get("ref", {}))), strict=True)]
        if len(systems) > 1 and len(references) == len(source):
            tasks[pair] = Task(source, references, systems)
    if not tasks:
        raise ConfigError(f"{archive}: no language pair with sources, references and system-outputs of two systems")
    return tasks


def features(target: str, syntax: bool) -> dict[str, list[object]]:
    """The features of each combination for a target language."""
    language: list[object] = [*CONSENSUS, {"use": "lexical-overlap", "text": "penn-tokenize"}]
    if target == "en":
        language += [{"use": name, "text": "penn-tokenize"} for name in ENGLISH]
    combined: dict[str, list[object]] = {"combined": list(CONSENSUS), "+ language": language}
    if syntax and target == "en":
        combined["+ syntax"] = [*language, *SYNTAX]
    return combined


@experiment("wmt_table", __doc__)
@click.argument("archive", type=FILE)
@click.argument("pairs", nargs=-1, metavar="[PAIR]...")
@click.option("--syntax", is_flag=True, help="Add the row with the embedded syntactic models.")
@click.option(
    "--lists",
    type=click.Path(path_type=Path),
    help="Only write the files of one PAIR to this folder.",
)
@click.option("--jobs", type=click.IntRange(1), default=1, help="Extract features in this many processes.")
def main(archive: Path, pairs: tuple[str, ...], syntax: bool, lists: Path | None, jobs: int) -> None:
    """Combine the systems of each pair, and print the table of all pairs and the means of the differences."""
    tasks = read_tasks(archive)
    for pair in pairs:
        if pair not in tasks:
            raise ConfigError(f"{archive}: has no pair {pair!r}; it has {', '.join(tasks)}")
    if lists is not None:
        write_job(tasks[(pairs or tuple(tasks))[0]], lists)
        return
    rows: list[tuple[str, ...]] = []
    differences: dict[str, list[tuple[float, float]]] = {}
    for pair in pairs or tasks:
        task = tasks[pair].best_first(range(len(tasks[pair].source) // 2))
        outputs, held_out = combinations(task, features(pair.partition("-")[2], syntax), jobs)
        rows += rows_of(pair, task, outputs, held_out, differences)
    means = [
        (name, *(f"{value:+.2f}" for value in np.mean(values, axis=0)), f"{len(values)}")
        for name, values in differences.items()
    ]
    header = ("pair", "systems", "output", "held-out gain", "BLEU", "−", "95 % interval", "chrF", "−", "95 % interval")
    print(markdown_table(Table(f"{archive.name}", header, tuple(rows))))
    print(markdown_table(Table("Means of the differences", ("output", "BLEU", "chrF", "pairs"), tuple(means))))


def write_job(task: Task, folder: Path) -> None:
    """Write the lists of both halves in the format of Moses, with their sources and first references."""
    half = len(task.source) // 2
    folder.mkdir(parents=True, exist_ok=True)
    lists = task.best_first(range(half)).lists()
    for name, segments in (("tune", range(half)), ("test", range(half, len(lists)))):
        with open_lists(folder / f"{name}.nbest.gz", FORMATS["moses"]()) as out:
            for at, segment in enumerate(segments):
                out.write(replace(lists[segment], segment_id=str(at)))
        for ending, lines in (("src", task.source), ("ref", [texts[0] for texts in task.references])):
            text = "".join(lines[segment] + "\n" for segment in segments)
            (folder / f"{name}.{ending}").write_text(text, encoding="utf-8")
    print(f"wrote the lists of {len(lists)} segments by {len(task.systems)} systems to {folder}")


def combinations(
    task: Task, kinds: Mapping[str, list[object]], jobs: int
) -> tuple[dict[str, list[str]], dict[str, HeldOutGain]]:
    """The outputs of the second half by each combination, and the gain of each on held-out folds of the first half.

    The first output is that of the chosen system, and `oracle` is not among them.
    """
    half = len(task.source) // 2
    lists = task.lists()
    chosen, texts = next(iter(task.systems.items()))
    outputs, gains = {chosen: texts[half:]}, {}
    for name, some in kinds.items():
        say(f"{name}: {chosen} and {len(task.systems) - 1} others")
        pipeline = Pipeline(some, tuner=TUNER, metric=METRIC, seed=1, jobs=jobs)
        pipeline.fit(lists[:half], task.references[:half])
        held = pipeline.tuning_.held_out
        assert held is not None  # there are folds
        gains[name] = held
        outputs[name] = [one.best for one in pipeline.predict(lists[half:])] if held.certain else texts[half:]
    return outputs, gains


def rows_of(
    pair: str,
    task: Task,
    outputs: Mapping[str, Sequence[str]],
    held_out: Mapping[str, HeldOutGain],
    differences: dict[str, list[tuple[float, float]]],
) -> list[tuple[str, ...]]:
    """The rows of a pair; the differences of the combinations are added to `differences`."""
    half = len(task.source) // 2
    result = evaluate(dict(outputs), task.references[half:], metrics=["bleu", "chrf"])
    rows = []
    for name in outputs:
        scores = [metric.of(name) for metric in result.metrics]
        cells: list[str] = []
        for score in scores:
            cells.append(f"{score.score:.2f}")
            test = score.comparison
            if test is None or test.interval is None:
                cells += ["", ""]
            else:
                cells += [f"{test.difference:+.2f}", f"{test.interval.low:+.2f} to {test.interval.high:+.2f}"]
        if name in held_out:
            gained = tuple(s.comparison.difference if s.comparison else 0.0 for s in scores)
            differences.setdefault(name, []).append((gained[0], gained[1]))
        shown = ""
        if name in held_out:
            low, high = held_out[name].interval
            shown = f"{held_out[name].gain:+.2f} ({low:+.2f} to {high:+.2f})"
        rows.append((pair, str(len(task.systems)), name, shown, *cells))
    return rows


if __name__ == "__main__":
    main()
