"""Which plugins read a file of a trained model: its header says what it holds, and plugins say what they read."""

from __future__ import annotations

from pathlib import Path

from rerank_plugins import ConfigError
from rerank_plugins.core.registry import Entry, Registry
from rerank_plugins.kit.files.model_file import model_kind
from rerank_plugins.ngram.arpa_files import is_kenlm_binary, open_arpa

ARPA = "ngram"  # the kind of n-gram models, which the files of other programs hold too
HEAD = 1 << 16  # bytes in which an ARPA file has its first line


def held_kind(path: Path) -> str | None:
    """The kind of model that a file holds, as `file_kind` of plugins has it; None for a file of another program.

    ARPA files and KenLM's binaries hold an n-gram model. Raises ModelError for a header that cannot be read.
    """
    if is_kenlm_binary(path):
        return ARPA
    return model_kind(path) or (ARPA if _is_arpa(path) else None)


def readers(registry: Registry, kind: str, held: str) -> list[Entry]:
    """The plugins of a kind that read files which hold a model of the kind `held`."""
    return [entry for entry in registry.known(kind).values() if getattr(entry.factory, "file_kind", "") == held]


def reader(registry: Registry, path: Path, kinds: tuple[str, ...]) -> Entry:
    """The plugin that reads a file, of one of these kinds.

    Raises ConfigError for a file that is missing, that no such plugin reads, or that several read: the caller is to
    name one of them.
    """
    if not path.is_file():
        raise ConfigError(f"{path}: {'is a folder' if path.is_dir() else 'no such file'}; wanted a trained model")
    held = held_kind(path)
    if held is None:
        raise ConfigError(f"{path}: wanted a trained model or an ARPA file; {_advice(path)}")
    several = {(entry.kind, entry.name): entry for kind in kinds for entry in readers(registry, kind, held)}
    found = list(several.values())  # a language model is among the features too
    if not found:
        wanted = f"a {kinds[0].replace('_', ' ')}" if len(kinds) == 1 else "a plugin"
        raise ConfigError(f"{path}: holds a model of the kind {held!r}, which is not read by {wanted}")
    if len(found) > 1:
        ways = " or ".join(f"load({entry.name!r}, kind={entry.kind!r}, model=…)" for entry in found)
        raise ConfigError(f"{path}: holds a model of the kind {held!r}, which several plugins read: {ways}")
    return found[0]


def _advice(path: Path) -> str:
    if path.suffix == ".toml":
        return "Pipeline.load reads weights, and Pipeline.from_config a config"
    return "FeatureTable.load reads feature tables" if path.suffix == ".npz" else "a file of another kind is an option"


def _is_arpa(path: Path) -> bool:
    with open_arpa(path) as stream:
        return any(line.strip() == b"\\data\\" for line in stream.read(HEAD).splitlines()[:1000])
