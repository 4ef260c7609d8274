"""The options of several commands, and what commands get of them: a job, the files of a data set, files to write."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click
from click.shell_completion import CompletionItem

from rerank_adapters.runtime.progress import duration
from rerank_adapters.texts import FORMS
from rerank_plugins import ConfigError
from rerank_plugins.core.files import check_output
from rerank_plugins.core.plugins import Registry

if TYPE_CHECKING:
    from rerank_adapters.job.job import Job
    from rerank_adapters.texts.pairing import Unpaired

Command = TypeVar("Command", bound=Callable[..., Any])


class SummaryLine:
    """A clock that starts with the command, and the line on stderr that the command ends with: what it wrote and where.

    The time is wall time: with several processes or threads it is less than the CPU time that they use together, and it
    includes the compilation of kernels that have not been compiled on this machine before.
    """

    def __init__(self) -> None:
        self._started = time.monotonic()

    def wrote(self, what: str, path: Path | str) -> None:
        """Print that `what` was written to a path (`-` is stdout), and the wall time."""
        self.report(f"wrote {what} to {'stdout' if str(path) == '-' else path}")

    def report(self, what: str) -> None:
        """Print what was done, and the wall time."""
        click.echo(f"{what} in {duration(time.monotonic() - self._started)}", err=True)


def plugin_names(kind: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Completes the names of a kind of plugin in the shell, and files where no name begins so."""

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
        registry = ctx.find_object(Registry)
        names = registry.known(kind) if registry else ()
        found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
        return found or [CompletionItem(incomplete, type="file")]

    return complete


class NewFile(click.Path):
    """A file to write; `-` is stdout, unless `needed` says what is wanted of a kind of file that goes to none.

    `refused` has the errors of names with other endings. Raises ConfigError before any work, also where the folder of
    the file does not exist or may not be written.
    """

    def __init__(self, needed: str = "", refused: Mapping[str, str] = {}) -> None:
        super().__init__(path_type=Path)
        self.needed, self.refused = needed, refused

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:  # noqa: ARG002
        """The path of the file."""
        path = Path(value)
        if error := self.needed if str(value) == "-" else self.refused.get(path.suffix):
            raise ConfigError(error.format(value))
        if str(value) != "-":
            check_output(path)
        return path


output_file = NewFile()
model_file = NewFile("a model goes to a file, not to stdout: give -o MODEL")
table_file = NewFile(
    "a feature table is written to a file, not to stdout: wanted -o TABLE.npz",
    {".parquet": "{}: a feature table is an .npz file; `to_parquet` of FeatureTable in Python writes Parquet"},
)
FILE = click.Path(path_type=Path)  # or a folder, which need not exist


class Form(click.Choice[str]):
    """A form of references or outputs: one of the choices, or `json` with the keys of its records."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The form as it was written."""
        if str(value).startswith("json,"):
            from rerank_adapters.texts.reading import named_form

            named_form(value)
            return str(value)
        return super().convert(value, param, ctx)


PLUGIN_HELP = "NAME or NAME,option=value,… (see `rerank plugins`)"


def plugin_option(*names: str, kind: str, help: str, **settings: Any) -> Callable[[Any], Any]:
    """An option whose values are plugins of a kind, or files; `help` is followed by how they are written."""
    more = " Repeatable." if settings.get("multiple") else ""
    settings = {"metavar": kind.upper(), "help": f"{help}: {PLUGIN_HELP}.{more}", **settings}
    return click.option(*names, shell_complete=plugin_names(kind), **settings)


config_option = click.option(
    "-c", "--config", type=FILE, metavar="FILE",
    help="Read settings from this config (TOML); flags replace its tables.",
)  # fmt: skip
format_option = plugin_option(
    "--format", "format_", kind="format", help="The format of the n-best lists",
    show_default="what the first lines show",
)  # fmt: skip
source_option = click.option(
    "--source", type=FILE, metavar="FILE", help="Read the source sentences from this file, one line per segment."
)  # fmt: skip
table_option = click.option(
    "--table", type=FILE, metavar="TABLE",
    help="Take features from this table. With -f, only those; features that it lacks are extracted.",
)  # fmt: skip
jobs_option = click.option("-j", "--jobs", type=click.IntRange(1), help="Use this many processes.", show_default="2")
folds_option = click.option(
    "--folds", type=click.IntRange(2), default=5, show_default=True, help="Divide the tuning set into this many folds."
)
set_option = click.option(
    "--set", "set_name", metavar="NAME",
    help="Put this name instead of {set} in the files of features, as `run` does with tune or test.",
)  # fmt: skip
seed_option = click.option(
    "--seed", type=click.IntRange(0), help="The seed of everything that is random.", show_default="1"
)  # fmt: skip
text_option = click.option(
    "--text", "steps", multiple=True, metavar="STEP",
    help="Apply this text step to sentences, or several joined by `+`; `none` applies none. Repeatable.",
    show_default="penn-tokenize",
)  # fmt: skip
columns_option = click.option(
    "--column", "columns", multiple=True, metavar="PATTERN",
    help="Use only the columns whose names match, for instance '*.total'. Repeatable.",
    show_default="all",
)  # fmt: skip
style_option = click.option(
    "--as", "style", type=click.Choice(["table", "tsv", "json", "markdown"]), default="table", show_default=True,
    help="The form of the report.",
)  # fmt: skip
trust_pairs_option = click.option(
    "--trust-pairs", is_flag=True, default=None,
    help="Go on where hypotheses and references do not seem to belong together, which is an error otherwise.",
)  # fmt: skip
scheduler_option = click.option(
    "--scheduler", envvar="RERANK_SCHEDULER", metavar="ADDRESS", default="",
    help="Send the work to the Dask cluster whose scheduler has this address, tcp://HOST:8786, or that of the"
         " environment variable RERANK_SCHEDULER.",
    show_default="processes of this machine",
)  # fmt: skip


class JobOption(NamedTuple):
    """An option that replaces the whole table of a config under a key: `--tuner mira,passes=20` all of `[tuner]`."""

    key: str
    option: Callable[[Any], Any]


feature_option = plugin_option(
    "-f", "--feature", "features", kind="feature", help="Extract this feature", multiple=True
)
metric_option = plugin_option("-m", "--metric", "metrics", kind="metric", help="Use this metric", multiple=True)
tuner_option = plugin_option("-t", "--tuner", kind="tuner", help="Tune with this tuner", show_default="mira")
JOB_OPTIONS = {
    "features": JobOption("feature", feature_option),
    "metrics": JobOption("metric", metric_option),
    "tuner": JobOption("tuner", tuner_option),
    "format_": JobOption("nbest", format_option),
    "jobs": JobOption("jobs", jobs_option),
    "seed": JobOption("seed", seed_option),
    "trust_pairs": JobOption("trust_pairs", trust_pairs_option),
}


def job_of(config: Path | None, **given: Any) -> Job:
    """The job of a config, or of an empty one whose paths are relative to here; options replace its tables.

    The options are named as in JOB_OPTIONS. One that is not given is None, or empty where there may be several.
    """
    from rerank_adapters.job.config import Config, read_config
    from rerank_adapters.job.job import Job

    job = Job.of(read_config(config) if config else Config(), click.get_current_context().obj)
    return job.changed(**{JOB_OPTIONS[name].key: None if value == () else value for name, value in given.items()})


def job_options(
    *names: str, metrics: tuple[str, ...] = (), config: Callable[[Any], Path | None] | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add `--config` and options of JOB_OPTIONS by their names; the command gets the job that they describe, `job`.

    Where `config` is not among the names, it is an argument that the command gets, too, or what the function `config`
    tells of all arguments. `metrics` are those of a job for which neither an option nor a config names any.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_job(*args: Any, **options: Any) -> Any:
            own = {name: options.pop(name) for name in names}
            file = own.pop("config", None) or (config(options) if config else options.get("config"))
            if metrics and not file:
                own["metrics"] = own.get("metrics") or metrics
            return command(*args, job=job_of(file, **own), **options)

        for name in reversed(names):
            with_job = (config_option if name == "config" else JOB_OPTIONS[name].option)(with_job)
        return with_job

    return decorate


def output_option(what: str) -> Callable[[Command], Command]:
    """`-o`: the file to write, stdout by default; `what` begins the help text."""
    return click.option(
        "-o", "--output", type=output_file, default="-", metavar="FILE", help=what, show_default="stdout"
    )


table_output = click.option(
    "-o", "--output", type=table_file, required=True, metavar="TABLE",
    help="Write the feature table to this file (.npz).",
)  # fmt: skip
model_output = click.option(
    "-o", "--output", type=model_file, required=True, metavar="MODEL", help="Write the model to this file."
)


def pairing_options(command: Command) -> Command:
    """How references are matched with segments, and what becomes of segments that only one file has."""
    form = click.option(
        "--reference-form", default="auto", show_default=True, metavar="FORM", type=Form(FORMS),
        help="How the references name their segments: lines (numbered from 0), lines-from-1, kaldi (an id in front),"
             " trn (an id at the end), json (or json,key=KEY,id_key=KEY; id_key=none numbers the lines), icefall,"
             " fairseq, stm, or sgm (NIST's SGML and WMT's XML). With auto, lines are counted if the ids of the"
             " segments are numbers; otherwise the form is the one that has all ids.",
    )  # fmt: skip
    unpaired = click.option(
        "--unpaired", type=click.Choice(["empty", "leave-out", "error"]), default="empty", show_default=True,
        help="What becomes of segments that have no list or no output: an evaluation counts them as empty hypotheses,"
             " and tuning leaves them out (empty); or they are left out, as are those without a reference; or they are"
             " an error.",
    )  # fmt: skip
    return form(unpaired(command))


def references_option(*, required: bool = True) -> Callable[[Command], Command]:
    """`-r`: reference files, repeatable, and how they are matched with segments."""
    option = click.option(
        "-r", "--reference", "references", multiple=True, type=FILE, required=required, metavar="FILE",
        help="A file of references, one line per segment. Repeat the option where segments have several references.",
    )  # fmt: skip
    return lambda command: option(pairing_options(command))


def files_options(*, required: bool = True) -> Callable[[Command], Command]:
    """The same, and `--source`, for a command with NBEST lists, which gets them all in one argument, `files`."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def with_files(
            *args: Any, nbest: tuple[str, ...], references: tuple[Path, ...], source: Path | None, reference_form: str,
            unpaired: Unpaired, groups: Path | None = None, **options: Any,
        ) -> Any:  # fmt: skip
            from rerank_adapters.data.dataset import Files

            files = Files(nbest, references, source, groups, reference_form, unpaired)
            return command(*args, files=files, **options)

        return references_option(required=required)(source_option(with_files))  # type: ignore[return-value]

    return decorate


def text_steps(steps: tuple[str, ...], usual: tuple[str, ...] = ("penn-tokenize",)) -> tuple[str, ...]:
    """The steps that `--text` names: the `usual` ones where the option is not given, none for `--text none`."""
    from rerank_adapters.text import split_steps

    return split_steps(steps or usual, "--text")


def _model_or_file(value: str) -> str | Path:
    """A path where the value looks like one, so that a file that is not there is reported as such."""
    return Path(value) if "," not in value and ("/" in value or "." in value) else value


def language_model_option(default: str | None = None, *, multiple: bool = False) -> Callable[[Command], Command]:
    """`-M` or `--model`: a language model, required without a `default`; or several."""
    more = " Repeatable." if multiple else ""
    needed: dict[str, Any] = {"default": default, "show_default": True} if default else {"required": not multiple}
    return click.option(
        "-M", "--model", "models" if multiple else "model", type=_model_or_file, multiple=multiple,
        metavar="LM", shell_complete=plugin_names("language_model"), **needed,
        help=f"Language model: a file, ARPA file or KenLM binary, a name in the config, or {PLUGIN_HELP}.{more}",
    )  # fmt: skip
