"""Writes the draft of a config that fits its files, with the reasons in comments."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rerank_adapters.chain.config_draft.assignment import Column, Set
from rerank_adapters.chain.config_draft.texts import TextStyle
from rerank_adapters.runtime.progress import counted
from rerank_adapters.text import TextPipeline, steps_towards
from rerank_adapters.text.languages import UNSPACED
from rerank_plugins.kit.files.languages import ENGLISH, has_defaults, language_folders, missing, models_of

METRICS = {
    "bleu": (("bleu", "BLEU"), ("chrf", "chrF"), ("ter", "TER")),
    "wer": (("wer", "WER"), ("cer", "CER"), ("ser", "SER")),
}
OF_CHARACTERS = {  # the same for languages without spaces between words
    "bleu": (("bleu", "BLEU"), ("chrf", "chrF"), ("cer", "CER")),
    "wer": (("cer", "CER"), ("ser", "SER")),
}
SYNTAX = ("dependency-lm", "treelet-lm", "slr", "hhmm-lm", "svs-similarity")
OF_LANGUAGE = ("unigram", "oov-count", *SYNTAX)
OF_SCORES = ("column", "decoder-score")
OF_SOURCE = ("lexical-overlap", "untranslated")
OPTIONS = {"hhmm-lm": "beam = 50                                         # the default is 200, for four times the time"}


@dataclass(frozen=True)
class Draft:
    """All that a config is drafted from.

    `sets`             the lists with references and sources, that which is tuned on first
    `metric`           "bleu" or "wer": the metric that is tuned, and its companions
    `language`         of the hypotheses, or None if it is not known
    `source_language`  of the source, or None
    `style`            how hypotheses look
    `language_models`  files of n-gram models
    `columns`          scores of the hypotheses that were computed elsewhere
    `weights`          the decoder's weights, or None
    `left_out`         features that are not wanted
    """

    sets: Sequence[Set]
    metric: str
    language: str | None
    source_language: str | None
    style: TextStyle
    language_models: Sequence[Path] = ()
    columns: Sequence[Column] = ()
    weights: Path | None = None
    left_out: Sequence[str] = ()

    @property
    def scored(self) -> bool:
        """Whether all hypotheses have totals."""
        return all(
            h.score is not None for one in self.sets for file in one.lists for nbest in file.nbests for h in nbest
        )

    @property
    def unspaced(self) -> bool:
        """Whether the language has no spaces between words, so that metrics count characters."""
        return self.language in UNSPACED

    @property
    def has_features(self) -> bool:
        """Whether the lists have the decoder's features."""
        nbest = self.sets[0].lists[0].nbests[0]
        return bool(nbest.feature_names or nbest[0].sparse)

    def features(self) -> dict[str, str]:
        """The features that the files allow, each with the reason why it is left out, or an empty text."""
        reasons = {"length": "", "consensus": ""}
        if self.scored and not self.has_features:
            reasons = {"decoder-score": "", **reasons, "word-posteriors": ""}
        elif not self.has_features:
            reasons["word-posteriors"] = "the lists have no scores"
        no_source = "" if all(one.sources is not None for one in self.sets) else "not all lists have a source"
        if self.metric == "bleu" or not no_source:
            reasons |= dict.fromkeys(OF_SOURCE, no_source)
        no_model = f"no model of {self.language or 'an unknown language'}: {missing(self.language)}"
        is_there = self.language == ENGLISH
        reasons |= {name: "" if is_there or has_defaults(name, self._models) else no_model for name in OF_LANGUAGE}
        reasons |= dict.fromkeys(self.left_out, "left out as too slow")
        return reasons

    @cached_property
    def _models(self) -> dict[str, Path]:
        """By plugin, the models of a language other than English, if any are there."""
        language = self.language or ""
        return models_of(language) if language in language_folders().keys() - {ENGLISH} else {}

    @cached_property
    def source(self) -> tuple[str, ...]:
        """The steps that make words of the sources as those of the hypotheses are made."""
        hypotheses = TextPipeline(self.style.models).apply(self.sets[0].lists[0].firsts)
        sources = self.sets[0].sources
        return steps_towards(sources, hypotheses, self.source_language) if sources else ()

    @property
    def cores(self) -> int:
        """Processes for extraction: all cores of this machine that may be used."""
        from rerank_plugins.core.threads import cores

        return cores()

    def write(self, output: Path, notes: Mapping[str, str] | None = None, costs: Sequence[str] = ()) -> str:
        """The text of the config, for a file `output`, to whose folder its paths are relative.

        `notes` has, by feature, what is said in its comment, and `costs` are lines about the whole run.
        """
        notes = notes or {}
        lines = [*self._head(costs), f"seed = 1\njobs = {self.cores}"]
        if self._models:
            lines.append(f"language = {json.dumps(self.language)}{' ' * 32}# whose models are used")
        lines.append("")
        lists = self.sets[0].lists[0]
        lines += ["[nbest]", f"use = {json.dumps(lists.format)}"]
        lines += [*(f"{key} = {_value(value)}" for key, value in lists.options.items()), ""]
        for one in self.sets:
            lines += [*self._set(one, output), ""]
        lines += self._text()
        for use, label in (OF_CHARACTERS if self.unspaced else METRICS)[self.metric]:
            lines += ["[[metric]]", f"use = {json.dumps(use)}", f"label = {json.dumps(label)}"]
            if use == "bleu" and self.unspaced:
                lines.append(f"tokenize = {json.dumps('zh' if self.language == 'zh' else 'char')}")
            elif use == "cer" and self.unspaced:
                lines.append("whitespace = false")
            elif use == "bleu" and self.style.tokenised:
                lines.append('tokenize = "none"                                 # both sides are tokenised')
            lines += ['text = "compared"'] if self.style.metric else []
            lines.append("")
        tests = [one for one in self.sets if one.role == "test"]
        if tests and all(one.has_many_groups for one in tests):
            lines += ["[evaluation]", "resample_groups = true                            # segments of one speaker"
                      " depend on each other", ""]  # fmt: skip
        tuner = "mira" if self.metric == "bleu" else "expected-risk"
        lines += ["[tuner]", f"use = {json.dumps(tuner)}", ""]
        if self.weights is not None:
            lines += ["[tuning]", f"start = {_path(self.weights, output)}        # the decoder's own weights", ""]
        reasons = self.features()
        for feature, reason in reasons.items():
            if not reason:
                lines += [*self._feature(feature, notes.get(feature, "")), ""]
        for number, model in enumerate(self.language_models, 1):
            label = f"ngram-lm-{number}" if len(self.language_models) > 1 else "ngram-lm"
            lines += self._feature("ngram-lm", notes.get(label, ""))
            lines += [f"label = {json.dumps(label)}"] if label != "ngram-lm" else []
            lines += [f"model = {_path(model, output)}", ""]
        for column in self.columns:
            note = "; ".join(filter(None, ["scores computed elsewhere", notes.get(column.label, "")]))
            lines += [*self._feature("column", note), f"label = {json.dumps(column.label)}"]
            names = [str(number) for number in range(1, column.width + 1)]
            lines += [f"names = {json.dumps(names)}"] if column.width > 1 else []
            lines += [f"file = {_path(column.path, output)}", ""]
        syntax = [name for name in SYNTAX if reasons.get(name) == ""]
        if syntax:
            lines += ["[[system]]                                        # a row of the report: what syntax is worth"]
            lines += ['name = "without syntax"', f"without = {json.dumps(syntax)}", ""]
        if unused := {name: reason for name, reason in reasons.items() if reason}:
            lines += ["# Features that are left out:"]
            lines += [f"#   {name}: {reason}" for name, reason in unused.items()]
        return "\n".join(lines).rstrip() + "\n"

    def _head(self, costs: Sequence[str]) -> list[str]:
        language = f"hypotheses in {self.language}" if self.language else "hypotheses in no language that is recognised"
        source = f", sources in {self.source_language}" if self.source_language else ""
        looks = f", which look {', '.join(self.style.kinds)}" if self.style.kinds else ""
        lines = [
            "# Drafted by `rerank init`. `rerank check` looks for faults, `rerank run` does the job; docs/config.md has"
            " every key.",
            f"# Seen in the files: {language}{source}{looks}.",
        ]
        return [*lines, *(f"# {cost}" for cost in costs)]

    def _set(self, one: Set, output: Path) -> list[str]:
        lists = [file.nbests for file in one.lists]
        sizes = [sum(map(len, nbests)) for nbests in lists]
        size = f"{counted(len(lists[0]), 'segment')}, {counted(sum(sizes), 'hypothesis', 'hypotheses')}"
        if len(lists) > 1 and all(len(nbest) == 1 for nbests in lists for nbest in nbests):
            size += f": the outputs of {len(lists)} systems, best system first"
        lines = [f"{'[tune]' if one.role == 'tune' else '[[test]]':<50}# {size}"]
        if one.role == "test" or (self.columns and one.name != "tune"):  # that stands for {set}
            lines.append(f"name = {json.dumps(one.name)}")
        lines.append(f"nbest = [{', '.join(_path(file.path, output) for file in one.lists)}]")
        if one.references:
            lines.append(f"references = [{', '.join(_path(path, output) for path in one.references)}]")
        if one.counts_from_1:
            lines.append('reference_form = "lines-from-1"   # the ids of the lists count from 1')
        if one.source is not None:
            lines.append(f"source = {_path(one.source, output)}")
        if one.groups is not None:
            lines.append(f"groups = {_path(one.groups, output)}")
        return lines

    def _text(self) -> list[str]:
        pipelines = {
            "written": (self.style.models, "hypotheses as the features read them"),
            "source": (self.source, "sources in such words"),
            "compared": (self.style.metric, "both sides as the metrics read them"),
        }
        lines = [f"{f'{name} = {json.dumps(steps)}':<50}# {what}" for name, (steps, what) in pipelines.items() if steps]
        return ["[text]", *lines, ""] if lines else []

    def _feature(self, feature: str, note: str) -> list[str]:
        lines = [f"[[feature]]{' ' * 39}# {note}" if note else "[[feature]]", f"use = {json.dumps(feature)}"]
        if feature in OPTIONS:
            lines.append(OPTIONS[feature])
        if self.style.models and feature not in OF_SCORES:
            lines.append('text = "written"')
        if feature in OF_SOURCE and self.source:
            lines.append('source_text = "source"')
        return lines


def _path(path: Path, output: Path) -> str:
    """A path as the config names it, which stays right if the folder is moved as a whole."""
    relative = os.path.relpath(path.absolute(), output.absolute().parent)
    return json.dumps(relative, ensure_ascii=False)


def _value(value: object) -> str:
    """The value of an option of a plugin, as TOML has it."""
    return json.dumps(str(value) if isinstance(value, Path) else value, ensure_ascii=False)
