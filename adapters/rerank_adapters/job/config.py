"""The config of a job: a TOML file read into typed values. Unknown keys are errors; paths are relative to the file.

The options of plugins (in `[nbest]`, `[[metric]]`, `[tuner]`, `[[feature]]`, `[parser.NAME]`, `[language_model.NAME]`
and the `tuner` of a `[[system]]`) are kept as they are, and checked against the plugin's fields when it is built.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from rerank_adapters.texts import FORMS
from rerank_plugins import ConfigError
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.files import resolve
from rerank_plugins.core.json_and_toml import read_toml_table

if TYPE_CHECKING:
    from rerank_adapters.evaluation import Resampling

Given = Mapping[str, Any] | str  # the table of a plugin, or NAME,option=value as a user writes it in its place


def _listed(value: object) -> object:
    """A list of one text where there is a text."""
    return [value] if isinstance(value, str) else value


class Strict(BaseModel):
    """A table in which unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


KEYS_OF_JSON = re.compile(r"json(,(id_)?key=[^,]+)+")


def _form(text: str) -> str:
    if text not in FORMS and not KEYS_OF_JSON.fullmatch(text):
        raise ValueError(f"wanted {', '.join(FORMS)}, or json,key=KEY,id_key=KEY")
    return text


class DataSet(Strict):
    """N-best lists of the same segments (several files are merged), with their source and references."""

    nbest: list[Path]
    references: list[Path] = Field(default_factory=list)
    unpaired: Literal["empty", "leave-out", "error"] = "empty"
    reference_form: Annotated[str, AfterValidator(_form)] = "auto"
    source: Path | None = None
    groups: Path | None = None
    name: str = Field(default="test", pattern=r"^[^/\\]+$")

    @property
    def paths(self) -> list[Path]:
        """The paths of all files of the set, as the config has them."""
        return [*self.nbest, *self.references, *(path for path in (self.source, self.groups) if path is not None)]


class Tuning(Strict):
    """How weights are tuned, whatever the tuner; the options of the tuner are in `tuner`."""

    start: str | dict[str, float] | None = None  # the tuner's `usual_start`
    fixed: list[str] = Field(default_factory=list)
    lower: dict[str, float] = Field(default_factory=dict)
    upper: dict[str, float] = Field(default_factory=dict)
    select: bool = False
    select_folds: int = Field(default=5, ge=2)
    select_margin: float = Field(default=1.0, ge=0)
    held_out_folds: int | None = Field(default=None, ge=0)

    def without(self, names: Collection[str]) -> Tuning:
        """The settings without the constraints on features of these names, and without their start weights."""
        kept: dict[str, Any] = {
            "fixed": [name for name in self.fixed if name not in names],
            "lower": {name: bound for name, bound in self.lower.items() if name not in names},
            "upper": {name: bound for name, bound in self.upper.items() if name not in names},
        }
        if isinstance(self.start, dict):
            kept["start"] = {name: weight for name, weight in self.start.items() if name not in names}
        return self.model_copy(update=kept)


class System(Strict):
    """A system beside the reranked one: the same lists without some of the features, or tuned in another way."""

    name: str = Field(pattern=r"^[^/\\]+$")
    without: list[str] = Field(default_factory=list)
    tuner: dict[str, Any] | None = None
    tuning: Tuning | None = None


class Model(Strict):
    """A model that `rerank prepare` trains: the command `rerank train NAME`, its files and its options by name."""

    train: str
    inputs: list[str] = Field(min_length=1)
    output: Path
    options: dict[str, Any] = Field(default_factory=dict)


class EvaluationSettings(Strict):
    """How systems are compared and reported."""

    bootstrap: int = Field(default=1000, ge=0)
    randomisation: int = Field(default=10000, ge=0)
    changes: int = Field(default=5, ge=0)
    contribution_folds: int = Field(default=5, ge=0)
    weight_samples: int | None = Field(default=None, ge=0)
    explained: int = Field(default=20, ge=0)
    resample_groups: bool = False

    def resampling(self, seed: int) -> Resampling:
        """How the tests of significance resample."""
        from rerank_adapters.evaluation import Resampling

        return Resampling(self.bootstrap, self.randomisation, seed, self.resample_groups)


class Config(Strict):
    """One job: the lists to tune on and to rerank, the features, the metrics (the first is tuned) and the tuner."""

    seed: int = Field(default=1, ge=0)
    jobs: int = Field(default=2, ge=1)
    work: Path | None = None
    language: str = ""
    plugins: list[Path] = Field(default_factory=list)
    model: list[Model] = Field(default_factory=list)
    nbest: dict[str, Any] = Field(default_factory=dict)
    tune: DataSet | None = None
    test: list[DataSet] = Field(default_factory=list)
    text: dict[str, Annotated[list[str], BeforeValidator(_listed)]] = Field(default_factory=dict)
    metric: list[dict[str, Any]] = Field(default_factory=lambda: [{"use": "bleu"}])
    tuner: dict[str, Any] = Field(default_factory=lambda: {"use": "mira"})
    tuning: Tuning = Tuning()
    feature: list[dict[str, Any]] = Field(default_factory=list)
    ranks: bool = True
    trust_pairs: bool = False
    parser: dict[str, dict[str, Any]] = Field(default_factory=dict)
    language_model: dict[str, dict[str, Any]] = Field(default_factory=dict)
    system: list[System] = Field(default_factory=list)
    evaluation: EvaluationSettings = EvaluationSettings()
    base: Path = Path()  # folder of the config file; set on reading

    def path(self, path: Path | str) -> Path:
        """A path in this config, relative to here; `~` and `$VARIABLE` are expanded."""
        return resolve(path, self.base)


def _what_else(path: Path) -> str:
    """Advice about a file that does not look like a config by its name."""
    lists = "a config was expected; n-best lists are named with --nbest or in a config"
    return "" if path.suffix == ".toml" else f"; {lists}"


def read_config(path: Path) -> Config:
    """Read and check a config file. Raises ConfigError with the file, the line, the key and the value expected."""
    try:
        text = path.read_text(encoding="utf-8")
        table = read_toml_table(text)
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such config file") from None
    except IsADirectoryError:
        raise ConfigError(f"{path}: is a folder, not a config file") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}{_what_else(path)}") from None
    try:
        config = Config.model_validate({**table, "base": path.parent})
    except ValidationError as error:
        raise ConfigError(_explain(error, text, path)) from None
    names = [*(["tune"] if config.tune else []), *(test.name for test in config.test)]
    for name, times in Counter(names).items():
        if times > 1:  # their output files would have the same names
            last = max(place for place, test in enumerate(config.test) if test.name == name)
            where = f"{path}:{line_of_key(text, ['test', str(last)])}"
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
            "system": System,
            "model": Model,
            "evaluation": EvaluationSettings,
        }
        model = next((tables[key] for key in reversed(keys[:-1]) if key in tables), Config)
        known = model.model_fields.keys() - {"base"}
        return f"{where}: unknown key {dotted!r}{suggestion(keys[-1], known)}"
    if first["type"] == "missing":
        return f"{where}: missing key {dotted!r}"
    return f"{where}: key {dotted!r} is {first['input']!r}: {first['msg']}"


def line_of_key(text: str, keys: list[str]) -> int:
    r"""The line (from 1) of a TOML file with a key: the last of `keys` that the file has, in its table.

    >>> line_of_key("seed = 1\n[tune]\nnbset = 2\n", ["tune", "nbset"])
    3
    >>> line_of_key("[[test]]\nunpaired = 1\n[[test]]\nunpaired = 2\n", ["test", "1", "unpaired"])
    4
    """
    names = [key for key in keys if not key.isdigit()]
    place = next((int(key) for key in keys if key.isdigit()), 0)  # of the table among those of its name
    header, line_number, tables = "", 1, 0
    for number, line in enumerate(text.splitlines(), 1):
        if table := re.match(r"\s*(\[\[?)\s*([^\]]+?)\s*\]", line):
            header = table[2]
            tables += (table[1], header) == ("[[", names[0])
            if header in (names[0], ".".join(names)) and tables <= place + 1:
                line_number = number
        elif (
            (key := re.match(r"\s*[\"']?([\w.-]+)", line))
            and key[1] == names[-1]
            and header == ".".join(names[:-1])
            and tables in (0, place + 1)
        ):
            return number
    return line_number
