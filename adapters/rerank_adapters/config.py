"""A job in TOML, read into typed values: unknown keys are errors, paths are relative to the config file.

Tables that describe a plugin (`[nbest]`, `[[metric]]`, `[tuner]`, `[[feature]]`, `[parser.NAME]`,
`[language_model.NAME]`) keep their own options as they are: the plugin's fields check them when it is built.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rerank_plugins.errors import ConfigError
from rerank_plugins.paths import resolve
from rerank_plugins.plugins import suggestion

Table = Mapping[str, Any]  # a plugin's table: `use` and its options


class Strict(BaseModel):
    """A table whose keys are all known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class DataSet(Strict):
    """N-best lists of the same segments (files are merged), their source and references."""

    nbest: list[Path]
    references: list[Path] = Field(default_factory=list)
    reference_form: Literal["auto", "lines", "kaldi", "trn"] = "auto"
    source: Path | None = None
    name: str = Field(default="test", pattern=r"^[^/\\]+$")


class Tuning(Strict):
    """How to tune: the tuner's own options stay in `tuner`."""

    start: str | dict[str, float] = "uniform"
    fixed: list[str] = Field(default_factory=list)
    lower: dict[str, float] = Field(default_factory=dict)
    upper: dict[str, float] = Field(default_factory=dict)
    heldout: float = Field(default=0.0, ge=0, lt=1)
    average_restarts: bool = False


class Evaluation(Strict):
    """How the report is made."""

    bootstrap: int = Field(default=1000, ge=0)
    randomisation: int = Field(default=10000, ge=0)
    changes: int = Field(default=5, ge=0)


class Config(Strict):
    """One job: lists to tune on, lists to rerank, features, metrics (the first is tuned), tuner."""

    seed: int = 1
    jobs: int = Field(default=2, ge=1)
    work: Path | None = None
    plugins: list[Path] = Field(default_factory=list)
    nbest: dict[str, Any] = Field(default_factory=lambda: {"use": "moses"})
    tune: DataSet | None = None
    test: list[DataSet] = Field(default_factory=list)
    text: dict[str, list[str]] = Field(default_factory=dict)
    metric: list[dict[str, Any]] = Field(default_factory=lambda: [{"use": "bleu"}])
    tuner: dict[str, Any] = Field(default_factory=lambda: {"use": "mira"})
    tuning: Tuning = Tuning()
    feature: list[dict[str, Any]] = Field(default_factory=list)
    parser: dict[str, dict[str, Any]] = Field(default_factory=dict)
    language_model: dict[str, dict[str, Any]] = Field(default_factory=dict)
    evaluation: Evaluation = Evaluation()
    base: Path = Path()  # folder of the config file; set on reading

    def with_tuning(self, start: str | None, fixed: Sequence[str]) -> Config:
        """The same config with another start or other fixed features (None, none: as they are); paths from here."""
        given: dict[str, Any] = {"fixed": list(fixed)} if fixed else {}
        if start is not None:
            given["start"] = start if start in ("uniform", "decoder") else str(Path(start).resolve())
        return self.model_copy(update={"tuning": self.tuning.model_copy(update=given)})

    @property
    def named(self) -> dict[str, dict[str, dict[str, Any]]]:
        """The tables that others refer to by name, by kind."""
        return {"parser": self.parser, "language_model": self.language_model}

    def path(self, path: Path | str) -> Path:
        """A path of this config, seen from here; `~` and `$VARIABLE` are expanded."""
        return resolve(path, self.base)


def read_config(path: Path) -> Config:
    """Read and check a config file. Raises ConfigError naming file, line, key, and what was wanted."""
    try:
        text = path.read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such config file") from None
    except IsADirectoryError:
        raise ConfigError(f"{path}: is a folder, not a config file") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None
    try:
        config = Config.model_validate({**table, "base": path.parent})
    except ValidationError as error:
        raise ConfigError(_explain(error, text, path)) from None
    names = [*(["tune"] if config.tune else []), *(test.name for test in config.test)]
    for name, times in Counter(names).items():
        if times > 1:  # their files would have the same names
            where = f"{path}:{line_of_key(text, ['test'])}"
            raise ConfigError(f"{where}: {times} data sets are called {name!r}; give each [[test]] a `name` of its own")
    return config


def _explain(error: ValidationError, text: str, path: Path) -> str:
    first = error.errors()[0]
    keys = [str(part) for part in first["loc"]]
    dotted = ".".join(keys)
    where = f"{path}:{line_of_key(text, keys)}"
    if first["type"] == "extra_forbidden":
        tables: dict[str, type[Strict]] = {
            "tune": DataSet,
            "test": DataSet,
            "tuning": Tuning,
            "evaluation": Evaluation,
        }
        model = tables[keys[0]] if len(keys) > 1 and keys[0] in tables else Config
        known = model.model_fields.keys() - {"base"}
        return f"{where}: unknown key {dotted!r}{suggestion(keys[-1], known)}"
    if first["type"] == "missing":
        return f"{where}: missing key {dotted!r}"
    return f"{where}: key {dotted!r} is {first['input']!r}: {first['msg']}"


def line_of_key(text: str, keys: list[str]) -> int:
    r"""The line (from 1) of a TOML file where a key stands: the last of `keys` that can be found, under its table.

    >>> line_of_key("seed = 1\n[tune]\nnbset = 2\n", ["tune", "nbset"])
    3
    """
    names = [key for key in keys if not key.isdigit()]
    header, found = "", 1
    for number, line in enumerate(text.splitlines(), 1):
        if table := re.match(r"\s*\[\[?\s*([^\]]+?)\s*\]", line):
            header = table[1]
            if header in (names[0], ".".join(names)):
                found = number
        elif (key := re.match(r"\s*[\"']?([\w.-]+)", line)) and key[1] == names[-1] and header == ".".join(names[:-1]):
            return number
    return found


def plugin_options(table: Table, *ours: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A plugin's table without the keys that are ours (`label`, `text`), and those keys."""
    return {k: v for k, v in table.items() if k not in ours}, {k: v for k, v in table.items() if k in ours}


def plugin_table(text: str) -> dict[str, Any]:
    """A plugin's table from one line. Values are TOML, else strings; files that exist get absolute paths.

    >>> plugin_table("chrf,label=chrF++,word_order=2")
    {'use': 'chrf', 'label': 'chrF++', 'word_order': 2}
    """
    name, *pairs = re.split(r",(?=[A-Za-z_][\w-]*=)", text)
    if not name or "=" in name:
        raise ConfigError(f"{text!r} does not start with a name; wanted NAME or NAME,option=value")
    return {"use": name} | dict(_option(pair) for pair in pairs)


def _option(pair: str) -> tuple[str, Any]:
    key, _, text = pair.partition("=")
    try:
        value: Any = tomllib.loads(f"v = {text}")["v"]
    except tomllib.TOMLDecodeError:
        value = text
    if isinstance(value, str) and Path(value).exists():
        value = str(Path(value).resolve())
    return key, value
