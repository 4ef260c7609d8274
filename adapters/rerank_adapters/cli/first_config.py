"""Drafts the first config of a job from its files: text pipelines, metrics, features, with the reasons in comments."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rerank_adapters.cli.job_files import Set, lines_of
from rerank_adapters.job.specs import SET
from rerank_adapters.runtime.progress import counted
from rerank_adapters.text import TextPipeline, looks_like, steps_between, steps_towards, undoing, whole_words
from rerank_adapters.text.languages import UNSPACED, language_of
from rerank_adapters.text.styles import CASES
from rerank_plugins.core.threads import cores
from rerank_plugins.kit.files.languages import ENGLISH, has_defaults, language_folders, missing, models_of
from rerank_plugins.lists.column import read_columns

METRICS = {"bleu": {"bleu": "BLEU", "chrf": "chrF", "ter": "TER"}, "wer": {"wer": "WER", "cer": "CER", "ser": "SER"}}
OF_CHARACTERS = {"bleu": {"bleu": "BLEU", "chrf": "chrF", "cer": "CER"}, "wer": {"cer": "CER", "ser": "SER"}}
RECOGNISERS = {
    *("alternatives", "espnet", "htk-slf", "icefall", "julius", "kaldi", "kaldi-lattice", "nemo", "srilm", "wenet"),
    "whisper",
}
SYNTAX = ("dependency-lm", "treelet-lm", "slr", "hhmm-lm", "svs-similarity")
OF_LANGUAGE = ("unigram", "oov-count", *SYNTAX)
OF_TOTALS = ("decoder-score", "word-posteriors")
OF_SOURCE = ("lexical-overlap", "untranslated")
OPTIONS = {"hhmm-lm": {"beam": "50                                         # 200, the default, takes twice the time"}}
ENDINGS = {".txt", ".tsv", ".csv", ".scores", ".score", ".gz", ".xz", ".bz2", ".zst"}
PUNCTUATION = (".", ",", "?", "!", ";", ":")


@dataclass(frozen=True)
class Style:
    """How hypotheses look, and the steps that follow from it.

    `kinds` is what `looks_like` finds in them, `models` are the steps before models of written text, which in English
    read tokens of the Penn Treebank, `metric` those of both sides before a metric, and `undo` those that join pieces.
    `tokenised` says whether both sides are tokenised when a metric reads them.
    """

    kinds: tuple[str, ...]
    models: tuple[str, ...]
    metric: tuple[str, ...]
    tokenised: bool

    @classmethod
    def of(
        cls, hypotheses: Sequence[str], references: Sequence[str], language: str | None, metric: str | None = None
    ) -> Style:
        """The style of 1-bests with references of the same segments; without a metric, the texts show whether it is one
        of recognised words, which compares plain words.
        """
        undo = undoing(hypotheses)
        whole = TextPipeline(undo).apply(hypotheses)
        steps = steps_between(hypotheses, references, language)
        if not set(undo) <= set(steps):  # both sides have pieces
            steps = (*undo, *steps)
        plain = metric == "wer" if metric else _is_spoken(references)
        steps = tuple(step for step in steps if not step.startswith("tokenize:" if plain else "no-punctuation"))
        seen = looks_like(TextPipeline(steps).apply(hypotheses))
        kinds = tuple(sorted(looks_like(hypotheses)))
        return cls(kinds, (*undo, *_to_written(whole, language)), steps, "tokenised" in seen)


def _to_written(texts: Sequence[str], language: str | None) -> tuple[str, ...]:
    english = language in (None, ENGLISH)
    tokenised = ("penn-tokenize",) if english else (f"tokenize:{language}",)
    if _is_spoken(texts):
        lower = ("lowercase",) if "upper-case" in looks_like(texts) else ()
        return (*lower, "restore-sentence", *tokenised) if english else ()
    return tokenised if "detokenised" in looks_like(texts) else ()


def _is_spoken(texts: Sequence[str]) -> bool:
    """Whether texts have neither case nor punctuation, as transcripts do."""
    punctuated = sum(text.rstrip().endswith(PUNCTUATION) for text in texts)
    return bool(CASES & looks_like(texts)) and 20 * punctuated < len(texts)


@dataclass(frozen=True)
class Draft:
    """All that a config is drafted from.

    `sets`            the lists with references and sources, that which is tuned on first
    `named_metric`    "bleu" or "wer", the metric that is tuned, with its companions; None: what the files show
    `named_language`  of the hypotheses; None: what the references show
    `models`          files of n-gram models
    `scores`          paths with `{set}` for the name of a set: scores of the hypotheses, a line for each
    `weights`         the decoder's weights, or None
    """

    sets: Sequence[Set]
    named_metric: str | None
    named_language: str | None
    models: Sequence[Path] = ()
    scores: Sequence[Path] = ()
    weights: Path | None = None

    @cached_property
    def _references(self) -> list[str]:
        return lines_of(self.sets[0].references[0], self.sets[0].lists[0].ids)

    @cached_property
    def language(self) -> str | None:
        """The language of the hypotheses, or None if it is not known."""
        return self.named_language or language_of(whole_words(self._references))

    @cached_property
    def source_language(self) -> str | None:
        """The language of the sources, or None."""
        return language_of(whole_words(self.sets[0].sources)) if self.sets[0].sources else None

    @cached_property
    def metric(self) -> str:
        """The metric: word errors for recognisers, and for transcripts that no source is translated into."""
        shown = "wer" if self.sets[0].lists[0].format in RECOGNISERS else None
        if not shown and not self.sets[0].sources:
            spoken = self.language in UNSPACED or _is_spoken(self._references)  # Chinese has no case that would show it
            shown = "wer" if spoken else None
        return self.named_metric or shown or "bleu"

    @cached_property
    def style(self) -> Style:
        """How the hypotheses look."""
        return Style.of(self.sets[0].lists[0].firsts, self._references, self.language, self.metric)

    @cached_property
    def _source_steps(self) -> tuple[str, ...]:
        """The steps that make words of the sources as those of the hypotheses are made."""
        hypotheses = TextPipeline(self.style.models).apply(self.sets[0].lists[0].firsts)
        sources = self.sets[0].sources
        return steps_towards(sources, hypotheses, self.source_language) if sources else ()

    @cached_property
    def _models_of_language(self) -> dict[str, Path]:
        """By plugin, the models of a language other than English, if any are there."""
        there = self.language in language_folders().keys() - {ENGLISH}
        return models_of(self.language or "") if there else {}

    @cached_property
    def features(self) -> dict[str, str]:
        """The features that could be used, each with the reason why it is left out, or an empty text."""
        nbests = [nbest for one in self.sets for file in one.lists for nbest in file.nbests]
        scored = all(hypothesis.score is not None for nbest in nbests for hypothesis in nbest)
        no_source = "" if all(one.sources is not None for one in self.sets) else "not all lists have a source"
        no_model = f"no model of {self.language or 'an unknown language'}: {missing(self.language)}"
        of_language = {
            name: "" if self.language == ENGLISH or has_defaults(name, self._models_of_language) else no_model
            for name in OF_LANGUAGE
        }
        return {
            **dict.fromkeys(OF_TOTALS, "" if scored else "the lists have no scores"),
            **dict.fromkeys(("length", "consensus"), ""),
            **dict.fromkeys(OF_SOURCE, no_source),
            **of_language,
            "ngram-lm": "" if self.models else "no n-gram model is among the files",
            "column": "" if self.scores else "no --scores are given",
        }

    def write(self, output: Path, costs: Mapping[str, str] | None = None, notes: Sequence[str] = ()) -> str:
        """The text of the config, for a file `output`, to whose folder its paths are relative.

        `costs` has, by feature, what its comment says of them, and `notes` are lines about the whole run.
        """
        lines = [*self._head(notes), f"seed = 1\njobs = {cores()}"]
        if self._models_of_language:
            lines.append(f"language = {_value(self.language)}{' ' * 32}# whose models are used")
        first = self.sets[0].lists[0]
        lines += ["", "[nbest]", f"use = {_value(first.format)}"]
        lines += [*(f"{key} = {_value(value)}" for key, value in first.options.items()), ""]
        for one in self.sets:
            lines += [*self._set(one, output), ""]
        lines += [*self._text(), *self._metrics()]
        lines += ["[tuner]", f"use = {_value('mira' if self.metric == 'bleu' else 'expected-risk')}", ""]
        if self.weights is not None:
            lines += ["[tuning]", f"start = {_path(self.weights, output)}        # the decoder's own weights", ""]
        for use, options in self._tables(output):
            costs_of = (costs or {}).get(json.loads(options.get("label", _value(use))))
            lines.append(f"[[feature]]{' ' * 39}# {costs_of}" if costs_of else "[[feature]]")
            lines += [f"use = {_value(use)}", *(f"{key} = {value}" for key, value in options.items()), ""]
        syntax = [name for name in SYNTAX if not self.features[name]]
        if syntax:
            lines += ["[[system]]                                        # a row of the report: what syntax is worth"]
            lines += ['name = "without syntax"', f"without = {_value(syntax)}", ""]
        if any(self.features.values()):
            lines += ["# Features that are left out:"]
            lines += [f"#   {name}: {reason}" for name, reason in self.features.items() if reason]
        return "\n".join(lines).rstrip() + "\n"

    def _head(self, notes: Sequence[str]) -> list[str]:
        language = f"hypotheses in {self.language}" if self.language else "hypotheses in no language that is recognised"
        source = f", sources in {self.source_language}" if self.source_language else ""
        looks = f", which look {', '.join(self.style.kinds)}" if self.style.kinds else ""
        return [
            "# Drafted by `rerank init`. `rerank check` looks for faults, `rerank run` does the job; docs/config.md has"
            " every key.",
            f"# Seen in the files: {language}{source}{looks}.",
            *(f"# {note}" for note in notes),
        ]

    def _set(self, one: Set, output: Path) -> list[str]:
        hypotheses = sum(len(nbest) for file in one.lists for nbest in file.nbests)
        segments = counted(len(one.lists[0].nbests), "segment")
        size = f"# {segments}, {counted(hypotheses, 'hypothesis', 'hypotheses')}"
        lines = [f"{'[tune]' if one.role == 'tune' else '[[test]]':<50}{size}"]
        if one.role == "test" or (self.scores and one.name != "tune"):  # that stands for {set}
            lines.append(f"name = {_value(one.name)}")
        lines.append(f"nbest = [{', '.join(_path(file.path, output) for file in one.lists)}]")
        if one.references:
            lines.append(f"references = [{', '.join(_path(path, output) for path in one.references)}]")
        if one.source is not None:
            lines.append(f"source = {_path(one.source, output)}")
        if one.counts_from_1:
            lines.append('reference_form = "lines-from-1"   # the ids of the lists count from 1')
        return lines

    def _text(self) -> list[str]:
        pipelines = {
            "written": (self.style.models, "hypotheses as the features read them"),
            "source": (self._source_steps, "sources in such words"),
            "compared": (self.style.metric, "both sides as the metrics read them"),
        }
        lines = [f"{f'{name} = {_value(steps)}':<49} # {what}" for name, (steps, what) in pipelines.items() if steps]
        return ["[text]", *lines, ""] if lines else []

    def _metrics(self) -> list[str]:
        lines, unspaced = [], self.language in UNSPACED
        for use, label in (OF_CHARACTERS if unspaced else METRICS)[self.metric].items():
            lines += ["[[metric]]", f"use = {_value(use)}", f"label = {_value(label)}"]
            if use == "bleu" and unspaced:
                lines.append(f"tokenize = {_value('zh' if self.language == 'zh' else 'char')}")
            elif use == "cer" and unspaced:
                lines.append("whitespace = false")
            elif use == "bleu" and self.style.tokenised:
                lines.append('tokenize = "none"                                 # both sides are tokenised')
            lines += [*(['text = "compared"'] if self.style.metric else []), ""]
        return lines

    def _tables(self, output: Path) -> Iterator[tuple[str, dict[str, str]]]:
        """The features that are used, each with its options as TOML has them."""
        written = {"text": '"written"'} if self.style.models else {}
        of_source = {"source_text": '"source"'} if self._source_steps else {}
        for use, reason in self.features.items():
            if reason:
                continue
            if use == "ngram-lm":
                for number, model in enumerate(self.models, 1):
                    label = {"label": _value(f"{use}-{number}")} if len(self.models) > 1 else {}
                    yield use, {**label, "model": _path(model, output), **written}
            elif use == "column":
                for path in self.scores:
                    width = read_columns(str(path).replace(SET, self.sets[0].name)).shape[1]
                    names = {"names": _value([str(number + 1) for number in range(width)])} if width > 1 else {}
                    yield use, {"label": _value(_label(path)), "file": _path(path, output), **names}
            elif use == "decoder-score":
                yield use, {}
            else:
                yield use, {**OPTIONS.get(use, {}), **written, **(of_source if use in OF_SOURCE else {})}


def _path(path: Path, output: Path) -> str:
    """A path as the config names it, which stays right if the folder is moved as a whole."""
    return _value(os.path.relpath(path.absolute(), output.absolute().parent))


def _value(value: object) -> str:
    """The value of an option of a plugin, as TOML has it."""
    return json.dumps(str(value) if isinstance(value, Path) else value, ensure_ascii=False)


def _label(path: Path) -> str:
    """What the name of a file calls its scores: without the name of the set and endings such as `.txt.gz`."""
    while path.suffix in ENDINGS:
        path = path.with_suffix("")
    return path.name.replace(SET, "").strip("._-") or path.parent.name.replace(SET, "").strip("._-") or "scores"
