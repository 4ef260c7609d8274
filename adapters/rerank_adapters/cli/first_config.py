"""Drafts the first config of a job: what its files show, the features that work with them, and the reasons for both."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from rerank_adapters.cli.job_set import Set
from rerank_adapters.job.specs import SET
from rerank_adapters.runtime.progress import counted
from rerank_adapters.text import TextPipeline, looks_like, steps_between, steps_towards, undoing, whole_words
from rerank_adapters.text.languages import UNSPACED, language_of
from rerank_adapters.text.styles import CASES
from rerank_plugins.core.threads import cores
from rerank_plugins.kit.files.languages import ENGLISH, has_defaults, language_folders, missing, models_of
from rerank_plugins.lists.column import read_columns

HEAD = (
    "Drafted by `rerank init`. `rerank check` looks for faults, `rerank run` does the job; docs/config.md has every"
    " key."
)
METRICS = {"bleu": {"bleu": "BLEU", "chrf": "chrF", "ter": "TER"}, "wer": {"wer": "WER", "cer": "CER", "ser": "SER"}}
OF_CHARACTERS = {"bleu": {"bleu": "BLEU", "chrf": "chrF", "cer": "CER"}, "wer": {"cer": "CER", "ser": "SER"}}
TUNERS = {"bleu": "mira", "wer": "expected-risk"}
RECOGNISERS = {
    *("alternatives", "espnet", "htk-slf", "icefall", "julius", "kaldi", "kaldi-lattice", "nemo", "srilm", "wenet"),
    "whisper",
}
SYNTAX = ("dependency-lm", "treelet-lm", "slr", "hhmm-lm", "svs-similarity")
OF_LANGUAGE = ("unigram", "oov-count", *SYNTAX)
OF_SOURCE = ("lexical-overlap", "untranslated")
ENDINGS = {".txt", ".tsv", ".csv", ".scores", ".score", ".gz", ".xz", ".bz2", ".zst"}
PUNCTUATION = (".", ",", "?", "!", ";", ":")


@dataclass(frozen=True)
class Look:
    """What the tuning lists show, and the text steps that follow from it.

    `language`  of the hypotheses, `source_language` that of the sources; None where it is not known
    `metric`    "bleu" or "wer"
    `kinds`     what `looks_like` finds in the hypotheses
    `written`   the steps before features, whose English models read tokens of the Penn Treebank
    `source`    the steps that make words of the sources as those of the hypotheses are made
    `compared`  the steps of both sides before a metric; `tokenised` says whether both are tokenised after them
    """

    language: str | None
    source_language: str | None
    metric: str
    kinds: tuple[str, ...]
    written: tuple[str, ...]
    source: tuple[str, ...]
    compared: tuple[str, ...]
    tokenised: bool

    @classmethod
    def of(cls, tune: Set, metric: str | None, language: str | None) -> Look:
        """What a set with references shows; the user may name the metric and the language."""
        references, sources = tune.lines(tune.references[0]), tune.sources
        language = language or language_of(whole_words(references))
        source_language = language_of(whole_words(sources)) if sources else None
        spoken = language in UNSPACED or _is_spoken(references)  # Chinese has no case that would show it
        metric = metric or ("wer" if tune.table["use"] in RECOGNISERS or (spoken and not sources) else "bleu")
        written, compared = steps_of(tune.firsts, references, language, metric)
        source = steps_towards(sources, TextPipeline(written).apply(tune.firsts), source_language) if sources else ()
        kinds = tuple(sorted(looks_like(tune.firsts)))
        tokenised = "tokenised" in looks_like(TextPipeline(compared).apply(tune.firsts))
        return cls(language, source_language, metric, kinds, written, source, compared, tokenised)

    def __str__(self) -> str:
        """What was seen, for a comment."""
        language = f"hypotheses in {self.language}" if self.language else "hypotheses in no language that is recognised"
        source = f", sources in {self.source_language}" if self.source_language else ""
        looks = f", which look {', '.join(self.kinds)}" if self.kinds else ""
        return f"{language}{source}{looks}"


def steps_of(
    hypotheses: Sequence[str], references: Sequence[str], language: str | None, metric: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The steps before models of written text, and those of both sides before a metric; "wer" compares plain words."""
    undo = undoing(hypotheses)
    whole = TextPipeline(undo).apply(hypotheses)
    english = language in (None, ENGLISH)
    tokenise = ("penn-tokenize",) if english else (f"tokenize:{language}",)
    if _is_spoken(whole):
        lower = ("lowercase",) if "upper-case" in looks_like(whole) else ()
        written = (*lower, "restore-sentence", *tokenise) if english else ()
    else:
        written = tokenise if "detokenised" in looks_like(whole) else ()
    compared = steps_between(hypotheses, references, language)
    if not set(undo) <= set(compared):  # both sides have pieces
        compared = (*undo, *compared)
    other = "tokenize:" if metric == "wer" else "no-punctuation"
    return (*undo, *written), tuple(step for step in compared if not step.startswith(other))


def _is_spoken(texts: Sequence[str]) -> bool:
    """Whether texts have neither case nor punctuation, as transcripts do."""
    punctuated = sum(text.rstrip().endswith(PUNCTUATION) for text in texts)
    return bool(CASES & looks_like(texts)) and 20 * punctuated < len(texts)


class Because(NamedTuple):
    """A value of the config with the reason for it, which stands beside it."""

    value: object
    reason: str


def toml_table(header: str, values: Mapping[str, object], reason: str = "") -> str:
    """A table of a config under its header, with the reasons for it and for its values."""
    lines = [(header, reason)] if header else []
    for key, value in values.items():
        plain, why = value if isinstance(value, Because) else (value, "")
        lines.append((f"{key} = {json.dumps(plain, ensure_ascii=False)}", why))
    return "".join(f"{line:<49} # {why}\n" if why else f"{line}\n" for line, why in lines)


@dataclass(frozen=True)
class Draft:
    """The config of a job in the file `output`, to whose folder its paths are relative.

    Of the `sets`, that which is tuned on is the first. `models` are files of n-gram models. `scores` are paths with
    {set} for the name of a set, of scores of the hypotheses, a line for each. `weights` are the decoder's, or None.
    """

    output: Path
    sets: Sequence[Set]
    look: Look
    models: Sequence[Path] = ()
    scores: Sequence[Path] = ()
    weights: Path | None = None

    def text(self, costs: Mapping[str, str] | None = None, notes: Sequence[str] = ()) -> str:
        """The config. `costs` has, by feature, what it takes, and `notes` are lines about the whole run."""
        tables = [*self._settings()]
        for values in self._features():
            label = str(values.get("label", values["use"]))
            tables.append(toml_table("[[feature]]", values, (costs or {}).get(label, "")))
        if syntax := [name for name in SYNTAX if not self._reasons[name]]:
            values = {"name": "without syntax", "without": syntax}
            tables.append(toml_table("[[system]]", values, "a row of the report: what syntax is worth"))
        if left_out := [f"#   {name}: {reason}\n" for name, reason in self._reasons.items() if reason]:
            tables.append("".join(["# Features that are left out:\n", *left_out]))
        comments = (HEAD, f"Seen in the files: {self.look}.", *notes)
        return "".join(f"# {line}\n" for line in comments) + "\n".join(tables)

    @cached_property
    def _models_of_language(self) -> Mapping[str, Path]:
        """By plugin, the models of a language other than English, if any are there."""
        language = self.look.language or ""
        return models_of(language) if language in language_folders().keys() - {ENGLISH} else {}

    @cached_property
    def _reasons(self) -> dict[str, str]:
        """By feature that could be used, the reason why it is left out; an empty text where it is not."""
        nbests = (nbest for one in self.sets for lists in one.lists.values() for nbest in lists)
        scored = all(hypothesis.score is not None for nbest in nbests for hypothesis in nbest)
        no_source = "" if all(one.sources is not None for one in self.sets) else "not all lists have a source"
        language, models = self.look.language, self._models_of_language
        no_model = f"no model of {language or 'an unknown language'}: {missing(language)}"
        known = {name for name in OF_LANGUAGE if language == ENGLISH or has_defaults(name, models)}
        return {
            **dict.fromkeys(("decoder-score", "word-posteriors"), "" if scored else "the lists have no scores"),
            **dict.fromkeys(("length", "consensus"), ""),
            **dict.fromkeys(OF_SOURCE, no_source),
            **{name: "" if name in known else no_model for name in OF_LANGUAGE},
            "ngram-lm": "" if self.models else "no n-gram model is among the files",
            "column": "" if self.scores else "no --scores are given",
        }

    def _settings(self) -> Iterator[str]:
        """All tables but those of features and systems."""
        look, own_models = self.look, bool(self._models_of_language)
        language = {"language": Because(look.language, "whose models are used")} if own_models else {}
        yield toml_table("", {"seed": 1, "jobs": cores(), **language})
        yield toml_table("[nbest]", self.sets[0].table)
        for one in self.sets:
            hypotheses = sum(len(nbest) for lists in one.lists.values() for nbest in lists)
            size = f"{counted(len(one.ids), 'segment')}, {counted(hypotheses, 'hypothesis', 'hypotheses')}"
            yield toml_table("[tune]" if one.role == "tune" else "[[test]]", self._set(one), size)
        steps = {
            "written": Because(look.written, "hypotheses as the features read them"),
            "source": Because(look.source, "sources in such words"),
            "compared": Because(look.compared, "both sides as the metrics read them"),
        }
        if used := {name: own for name, own in steps.items() if own.value}:
            yield toml_table("[text]", used)
        unspaced, compared = look.language in UNSPACED, {"text": "compared"} if look.compared else {}
        for use, label in (OF_CHARACTERS if unspaced else METRICS)[look.metric].items():
            options: dict[str, object] = {}
            if use == "bleu" and unspaced:
                options["tokenize"] = "zh" if look.language == "zh" else "char"
            elif use == "cer" and unspaced:
                options["whitespace"] = False
            elif use == "bleu" and look.tokenised:
                options["tokenize"] = Because("none", "both sides are tokenised")
            yield toml_table("[[metric]]", {"use": use, "label": label, **options, **compared})
        yield toml_table("[tuner]", {"use": TUNERS[look.metric]})
        if self.weights is not None:
            yield toml_table("[tuning]", {"start": Because(self._path(self.weights), "the decoder's own weights")})

    def _set(self, one: Set) -> Mapping[str, object]:
        named = one.role == "test" or (self.scores and one.name != "tune")  # that stands for {set}
        texts = [*one.references, *([one.source] if one.source else [])]
        from_1 = any(one.text(path).form == "lines-from-1" for path in texts)
        values = {
            "name": one.name if named else None,
            "nbest": [self._path(path) for path in one.lists],
            "references": [self._path(path) for path in one.references],
            "source": self._path(one.source) if one.source else None,
            "reference_form": Because("lines-from-1", "the ids of the lists count from 1") if from_1 else None,
        }
        return {key: value for key, value in values.items() if value}

    def _features(self) -> Iterator[dict[str, object]]:
        """The tables of the features that are used."""
        written = {"text": "written"} if self.look.written else {}
        source = {"source_text": "source"} if self.look.source else {}
        for use in (name for name, reason in self._reasons.items() if not reason):
            if use == "ngram-lm":
                for number, model in enumerate(self.models, 1):
                    label = {"label": f"{use}-{number}"} if len(self.models) > 1 else {}
                    yield {"use": use, **label, "model": self._path(model), **written}
            elif use == "column":
                for path in self.scores:
                    width = read_columns(str(path).replace(SET, self.sets[0].name)).shape[1]
                    names = {"names": [str(column + 1) for column in range(width)]} if width > 1 else {}
                    yield {"use": use, "label": _label(path), "file": self._path(path), **names}
            elif use == "hhmm-lm":
                yield {"use": use, "beam": Because(50, "200, the default, takes twice the time"), **written}
            elif use == "decoder-score":
                yield {"use": use}
            else:
                yield {"use": use, **written, **(source if use in OF_SOURCE else {})}

    def _path(self, path: Path) -> str:
        """A path as the config names it, which stays right if the folder is moved as a whole."""
        return os.path.relpath(path.absolute(), self.output.absolute().parent)


def _label(path: Path) -> str:
    """What the name of a file calls its scores: without the name of the set and endings such as `.txt.gz`."""
    while path.suffix in ENDINGS:
        path = path.with_suffix("")
    return path.name.replace(SET, "").strip("._-") or path.parent.name.replace(SET, "").strip("._-") or "scores"
