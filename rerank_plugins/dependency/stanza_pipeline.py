"""Opens a pipeline of Stanza from downloaded models, a folder of models, or model files; errors take one line."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rerank_plugins.core.errors import ModelError


def open_pipeline(
    wanted_for: str,
    language: str,
    processors: Mapping[str, str],
    files: Mapping[str, Path | None],
    *,
    package: str = "",
    folder: Path | None = None,
    advice: str,
) -> Any:
    """A pipeline for tokenised sentences, on one thread; `processors` maps each processor to its package.

    `files` are model files by Stanza's names for them; if there are any, no other models are used. Raises ModelError if
    Stanza is not installed, if a file is missing or damaged, or if a model cannot be downloaded. In messages,
    `wanted_for` is the feature that needs Stanza, and `advice` the options that avoid a download.
    """
    try:
        import stanza
        import torch
    except ImportError:
        raise ModelError(f"{wanted_for} needs Stanza: pip install 'rerank-plugins[stanza]'") from None
    torch.set_num_threads(1)
    model_files = {name: path for name, path in files.items() if path}
    for path in (*model_files.values(), folder and folder / "resources.json"):
        if path and not path.is_file():
            raise ModelError(f"{path}: no such file (needed for {wanted_for})")
    arguments: dict[str, Any] = {
        "lang": language,
        "tokenize_pretokenized": True,
        "use_gpu": False,
        "verbose": False,
        "logging_level": "FATAL",
    }
    with tempfile.TemporaryDirectory() as empty:
        if model_files:  # in a folder with an empty list of resources
            (Path(empty) / "resources.json").write_text("{}", encoding="utf-8")
            arguments |= {name: str(path) for name, path in model_files.items()}
            arguments |= {"dir": empty, "download_method": None, "allow_unknown_language": True}
            arguments |= {"processors": ",".join(processors), "lemma_use_identity": True}
        else:
            arguments |= {"processors": dict(processors), "package": package or "default"}
            local = {"dir": str(folder), "download_method": None}
            arguments |= local if folder else {"download_method": "reuse_resources"}
        try:
            return stanza.Pipeline(**arguments)
        except Exception as error:  # Stanza, requests and torch raise many kinds
            where = str(folder) if folder else ", ".join(map(str, model_files.values()))
            raise ModelError(_explanation(error, language, where, advice)) from error


def _explanation(error: Exception, language: str, where: str, advice: str) -> str:
    text, place = " ".join(str(error).split()) or type(error).__name__, f"{where}: " if where else ""
    names = {kind.__name__ for kind in type(error).__mro__}
    if names & {"ConnectionError", "Timeout", "ProxyError"}:
        return f"Stanza's models for {language!r} cannot be downloaded (no network); give {advice}"
    if "unsupported" in text or "UnknownLanguageError" in names:
        return f"{place}Stanza has no models for the language {language!r} here"
    return f"{place}Stanza cannot load its models for {language!r}: {text[:200]}"
