"""`load`, the one door from Python to all that has a name on the command line, or is in the file of a trained model.

Plugins are loaded in job/models.py. Measures of similarity and classifiers belong to their applications.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rerank_adapters.job import models
from rerank_adapters.job.models import all_plugins, file_of, kinds_of, made, table_of_name
from rerank_adapters.weights.named_weights import read_toml
from rerank_plugins import ConfigError, FormatError, ModelError
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.plugins import KINDS
from rerank_plugins.kit.files.model_file import model_kind

CLASSIFIERS = ("threshold", "logistic")  # the kinds of a classifier, as its file has them
OF_APPLICATIONS = ("measure", "classifier")  # kinds of objects that are no plugins


def load(
    name_or_file: object, kind: str | None = None, *, language: str = "", text: object = None, **options: Any
) -> Any:
    """The plugin of that name, with these options; a text with options, a table, or the file of a trained model.

    `load("ngram-lm", model="lm.arpa")`, `load("ngram-lm,model=lm.arpa")`, `load({"use": "ngram-lm", "model":
    "lm.arpa"})` and `load("lm.arpa")` are one and the same object. Any other object is returned as it is. `kind` (one
    of "feature", "language_model", "parser", "metric", "tuner", "format", "trainer", "measure" and "classifier") tells
    those of the same name apart; a trainer is meant only where it is said, or where nothing else has the name.
    `language` is the code of the language whose embedded models are used where none is named.

    A measure of similarity has the name that `rerank similarity apply --measure` takes, and its data as options
    (`load("svs.meaning", svs="en")`); files of `rerank similarity train` are loaded too. A classifier of sentences is
    the file of one, or "threshold" or "logistic" for one to be fitted, with the options of `SentenceClassifier`.

    Methods of language models, parsers, measures and classifiers take texts, or sequences of words as they are. A text
    goes through the steps `text` ("none" for none), by default those that the model was trained with, or else
    `penn-tokenize`.

    Raises PluginError, with the most similar name, for an unknown one; ConfigError for a name or a file of several
    kinds, and for wrong options; TypeError for an object that is not of the kind.

    >>> load("length")
    LengthFeature()
    >>> load("chrf,word_order=2") is load({"use": "chrf", "word_order": 2})
    True
    >>> load("treelet-lm").totals(["It rains.", ["It", "rains", "."]]).round(1).tolist()
    [-23.1, -23.1]
    >>> load("overlap.unigram").scores([("It rains.", "It rained.")]).round(2).tolist()
    [0.5]
    >>> judge = load("threshold", features="length").fit(["it rains", "rain"], [1, 0])
    >>> judge.predict(["it snows"])["acceptable"]
    [True]
    """
    known = (*KINDS, *OF_APPLICATIONS)
    if kind is not None and kind not in known:
        raise ConfigError(f"kind is {kind!r}{suggestion(kind, known)}")
    own_kind = kind or _kind_of(name_or_file)
    if own_kind not in OF_APPLICATIONS:
        return models.load(name_or_file, kind, language=language, text=text, **options)
    given = options | ({} if text is None else {"text": text})
    return (_measure if own_kind == "measure" else _classifier)(
        name_or_file, given | ({"language": language} if language else {})
    )


def load_all(specs: object, kind: str | None = None, *, language: str = "", text: object = None) -> dict[str, Any]:
    """One or many plugins, measures or classifiers, each as `load` takes it, by label.

    A text, a path, a table with `use` or an object is one; a mapping without `use` has labels of its own; any other
    iterable is many. The label of a text is the text, of a file its name, of a table its `label` or `use`, and of an
    object the name of its class. Raises ConfigError for two of the same label, TypeError for none at all, and what
    `load` raises.

    >>> list(load_all(["length", {"use": "unigram", "label": "words"}], "feature"))
    ['length', 'words']
    """
    named = models.labelled(specs, kind)
    return {label: load(spec, kind, language=language, text=text) for label, spec in named.items()}


def _kind_of(spec: object) -> str | None:
    """Of which kind of an application something is; None for a plugin, or whatever else."""
    if not isinstance(spec, str | Path | Mapping):
        return getattr(spec, "loaded_as", None)  # so that the applications need not be imported to ask
    name, path = _name(spec), file_of(spec)
    if path is not None:
        return _kind_of_file(path)
    is_measure = "." in name and name.partition(".")[0] in _families()
    if not (is_measure or name in CLASSIFIERS) or kinds_of(all_plugins(), name, None):  # plugins take precedence
        return None
    return "measure" if is_measure else "classifier"


def _kind_of_file(path: Path) -> str | None:
    if path.suffix == ".toml":
        try:
            return "classifier" if "threshold" in read_toml(path).document else None
        except FormatError:
            return None
    try:
        return "measure" if model_kind(path) == "similarity" else None
    except ModelError:
        return None


def _name(spec: str | Path | Mapping[str, Any]) -> str:
    if isinstance(spec, Mapping):
        return str(spec.get("use", ""))
    return spec.partition(",")[0] if isinstance(spec, str) else ""


def _families() -> frozenset[str]:
    from rerank_adapters.applications.similarity.measure_data import FAMILIES

    return FAMILIES


def _measure(spec: Any, options: dict[str, Any]) -> Any:
    """The measure of similarity, the metric or the trained system that is named, or is the object."""
    from rerank_adapters.applications.similarity.scorers import measure_of

    return measure_of(spec, **options)


def _classifier(spec: Any, options: dict[str, Any]) -> Any:
    """The classifier in that file, a new one of that kind, or the object."""
    from rerank_adapters.applications.acceptability.sentence_classifier import SentenceClassifier

    if not isinstance(spec, str | Path | Mapping):
        return _object(spec, (SentenceClassifier,), "classifier", options)
    name = _name(spec)
    if name in CLASSIFIERS:
        table = table_of_name(spec)
        return made(SentenceClassifier, {"kind": table.pop("use")}, table | options, name)
    if isinstance(spec, Mapping):
        raise ConfigError(f"no classifier is named {name!r}{suggestion(name, CLASSIFIERS)}")
    path = file_of(spec)
    if path is None:
        raise ConfigError(f"{spec}: no such file, and no classifier of that name{suggestion(name, CLASSIFIERS)}")
    for key in options.keys() - {"jobs"}:
        raise ConfigError(f"{spec}: the file of a classifier has its own {key}")
    return SentenceClassifier.load(path, **options)


def _object(spec: object, classes: tuple[type, ...], kind: str, options: Mapping[str, Any]) -> object:
    if options:
        raise TypeError(f"options ({', '.join(options)}) belong to a name; {type(spec).__name__} is an object")
    if not isinstance(spec, classes):
        raise TypeError(f"wanted a {kind}, found {spec!r:.60}")
    return spec
