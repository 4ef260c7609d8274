"""The models of a language: a folder of files with fixed names, of this package or of an installed one.

A distribution offers a language by an entry point of the group `rerank_plugins.languages`, whose name is the code of
the language and whose value is the package with the files:

    [project.entry-points."rerank_plugins.languages"]
    cs = "rerank_models_cs"

A config that says `language = "cs"` then gets these files wherever it names no model. A folder need not have all files.
The models record the parser of their trees as all models do; it is looked for beside them. Those of this package are
embedded ones, each of which is read once for all parts of a process.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from rerank_plugins.core.errors import ModelError
from rerank_plugins.kit.files.in_use import shared

T = TypeVar("T")
FOLDER = Path(str(files("rerank_plugins.resources")))
ENGLISH = "en"  # the language of the models that are used where no other one is named
GROUP = "rerank_plugins.languages"
FILES = {  # plugin -> the file that is its model
    "biaffine": "parser.biaffine",
    "pcfg": "grammar.pcfg",
    "hhmm": "hhmm.pcfg",
    "svs": "vectors.svs",
    "ngram-lm": "words.ngram",
    "unigram": "words.ngram",
    "dependency-lm": "dependency-lm.zst",
    "treelet-lm": "treelet-lm.zst",
    "hhmm-lm": "hhmm.pcfg",
    "svs-similarity": "vectors.svs",
    "meaning-in-context": "concepts.svs",
}
FURTHER = {"svs-similarity": {"concepts": "concepts.svs"}}  # plugin -> its options for further files that may be there
READ_BY = {  # plugin that reads another one -> its options for that, of which one is enough, and the other one
    "slr": (("lm",), "treelet-lm"),
    "oov-count": (("lm", "words"), "unigram"),
}

_kept: dict[Hashable, Any] | None = None  # the embedded models that were read, where they are kept


def embedded(name: str, language: str = ENGLISH) -> Path:
    """The path of an embedded file, such as `grammar.pcfg`; `resources/LANGUAGE/README.md` describes its training."""
    return FOLDER / language / name


def shared_if_embedded(path: Path, read: Callable[[Path], T]) -> T:
    """The model that `read` reads from a file; that of an embedded file is shared (in_use.py)."""
    if not path.is_relative_to(FOLDER):
        return read(path)
    model = shared((path, read), lambda: read(path))  # a reader of another kind of models refuses the file
    if _kept is not None:
        _kept[path, read] = model
    return model


def keep_embedded() -> None:
    """Keep embedded models in memory from now on, even while nobody uses them."""
    global _kept  # noqa: PLW0603
    _kept = {}


def language_folders() -> dict[str, Path]:
    """By code, the folder of each language's models, those of this package first.

    Raises ModelError for a package that cannot be imported, and for a language of two packages.
    """
    folders = {
        path.name: path for path in sorted(FOLDER.iterdir()) if any((path / file).is_file() for file in FILES.values())
    }
    for point in entry_points(group=GROUP):
        owner = f"{point.name} = {point.value!r} ({point.dist.name if point.dist else 'no distribution'})"
        if point.name in folders:
            raise ModelError(f"models of a language: {owner}: {folders[point.name]} has models of {point.name!r}, too")
        try:
            folders[point.name] = Path(str(files(point.value)))
        except (Exception, SystemExit) as error:  # of any kind: the package is imported
            raise ModelError(f"models of a language: {owner}: {type(error).__name__}: {error}") from error
    return folders


def defaults_of(language: str, plugin: str, required: Collection[str], settings: Collection[str]) -> dict[str, Any]:
    """The options that a plugin gets for a language beside those `settings`: its model, or the plugin that it reads.

    Without a language, and in English, there are none but `required` ones: other plugins have embedded English models.
    Raises ModelError for a language without such a model.
    """
    if not language or (language == ENGLISH and (plugin not in FILES or "model" not in required)):
        return {}
    if plugin in READ_BY:
        options, other = READ_BY[plugin]
        return {} if set(options) & set(settings) else {options[0]: {"use": other}}
    if plugin not in FILES or "model" in settings:
        return {}
    if plugin not in (models := models_of(language)):
        raise ModelError(f"the models of {language!r} have no {FILES[plugin]}; name one by `model`")
    further = {option: models[plugin].with_name(file) for option, file in FURTHER.get(plugin, {}).items()}
    named = {option: str(path) for option, path in further.items() if path.is_file() and option not in settings}
    return {"model": str(models[plugin])} | named


def has_defaults(plugin: str, models: Collection[str]) -> bool:
    """Whether a plugin works for a language that has models of these plugins."""
    return (READ_BY[plugin][1] if plugin in READ_BY else plugin) in models


def models_of(language: str) -> dict[str, Path]:
    """By plugin, the model files that are there for a language. Raises ModelError for a language without any."""
    folders = language_folders()
    if language not in folders:
        raise ModelError(f"language {language!r}: {missing(language)}")
    paths = {plugin: folders[language] / file for plugin, file in FILES.items()}
    return {plugin: path for plugin, path in paths.items() if path.is_file()}


def missing(language: str | None) -> str:
    """A line that says which languages have models, for a language (None: not known) that has none."""
    there = f"there are models of {', '.join(language_folders())}"
    how = f", and a package such as rerank-models-{language} can add them" if language else ""
    return f"{there}{how}; docs/languages.md says how models are trained"
