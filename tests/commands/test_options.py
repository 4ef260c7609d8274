"""Rules of options: all commands are walked, so that a name means one thing everywhere."""

import re
from collections import defaultdict

import click
import pytest

from rerank_adapters.cli import cli
from rerank_adapters.commands import former
from tests.command_line import done, rerank


def walked(group=cli, context=None, path=""):
    """(path, command) of all commands, groups left out: `lm score`, `tune`."""
    context = context or click.Context(cli, info_name="rerank")
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from walked(command, click.Context(command, info_name=name, parent=context), f"{path}{name} ")
        else:
            yield f"{path}{name}", command


COMMANDS = dict(walked())
OPTIONS = [(path, o) for path, command in COMMANDS.items() for o in command.params if isinstance(o, click.Option)]
MEANINGS = {  # of short options, everywhere
    "-M": "--model",
    "-a": "--hypothesis",
    "-b": "--against",
    "-c": "--config",
    "-d": "--detail",
    "-f": "--feature",
    "-g": "--grammar",
    "-i": "--input",
    "-j": "--jobs",
    "-m": "--metric",
    "-n": "--number",
    "-o": "--output",
    "-p": "--parser",
    "-r": "--reference",
    "-t": "--tuner",
    "-w": "--weights",
}


def test_all_commands_are_walked():
    assert {"run", "lm score", "train ngram", "negatives errors", "tools cache"} <= COMMANDS.keys()


def test_a_short_option_means_one_thing():
    meanings = defaultdict(set)
    for _, option in OPTIONS:
        short, long = ([name for name in option.opts if name.startswith("--") == whether] for whether in (False, True))
        assert len(short) <= 1
        assert len(long) <= 1  # a second name would be another mechanism than that of former ones
        for name in short:
            meanings[name].add(long[0] if long else None)
    assert meanings == {name: {meaning} for name, meaning in MEANINGS.items()}


def test_each_long_option_has_the_short_one_of_its_meaning():
    short_of = {long: short for short, long in MEANINGS.items() if long}
    lacking = {(path, name) for path, option in OPTIONS for name in option.opts
               if short_of.get(name) not in (None, *option.opts)}  # fmt: skip
    assert {(path, name) for path, name in lacking if name != "--model"} - FREE == set()


FREE = {("negatives errors", "--parser"), ("negatives phenomena", "--parser")}


def test_the_form_of_the_output_has_one_name():
    forms = {name for _, option in OPTIONS for name in option.opts
             if {"json", "tsv", "markdown", "brackets", "kaldi", "toml"} & set(getattr(option.type, "choices", ()))}  # fmt: skip
    assert forms == {"--as", "--reference-form", "--system-form"}  # the last two are those of inputs
    other = {"--layout", "--output-form", "--to", "--markdown", "--tree", "--form"}
    assert [(path, option.opts) for path, option in OPTIONS if other & set(option.opts)] == []


# --- former options


def path_of(old, new):
    """A command that understands a former option."""
    name = new.split()[0]
    known = {path: {o for p in command.params for o in p.opts} for path, command in COMMANDS.items()}
    return next(path for path, options in known.items() if name in options and old not in options)


FORMER = [(path_of(old, new), old, new) for old, new in former.OPTIONS.items()]
FORMER += [(path, old, new) for path, options in former.OF_COMMANDS.items() for old, new in options.items()]


@pytest.mark.parametrize(("path", "old", "new"), FORMER)
def test_former_options_are_understood_with_a_note(path, old, new):
    notes = []
    command = COMMANDS[path]
    name, *value = new.split()
    (option,) = [option for option in command.params if name in option.opts]
    given = old.split() if value or option.is_flag else [old, "VALUE"]
    args = former.present_options(path, command, ["first", *given, "last"], notes.append)
    assert args == ["first", *(new.split() if value or option.is_flag else [name, "VALUE"]), "last"]
    assert len(notes) == 1
    assert old in notes[0]
    assert new in notes[0]


def test_forms_of_options():
    score, notes = COMMANDS["lm score"], []
    for given, wanted in [
        (["--lm=a"], ["-Ma"]),
        (["-ma"], ["-Ma"]),
        (["-M", "-m"], ["-M", "-m"]),  # a value
        (["--", "-m"], ["--", "-m"]),  # an argument
        (["--layout=table"], ["--as", "tsv"]),
        (["--layout", "kenlm", "-"], ["--as", "kenlm", "-"]),
        (["--nonsense"], ["--nonsense"]),
    ]:
        assert former.present_options("lm score", score, given, notes.append) == wanted
    assert len(notes) == 4


def test_a_command_with_former_options_does_the_same(root):
    lm = f"{root}/example_nbest/mt/lm.arpa"
    text = "the house is old\n"
    present = done("lm", "score", "-M", lm, "--as", "kenlm", stdin=text)
    old = "score"
    ran = rerank(old, "--lm", lm, "--layout", "kenlm", stdin=text)
    assert ran.out == present.out
    assert ran.err.splitlines()[:3] == [
        f"rerank: note: `rerank {old}` is now `rerank lm score`",
        "rerank: note: `--lm` of `rerank lm score` is now `-M`",
        "rerank: note: `--layout` of `rerank lm score` is now `--as`",
    ]


# --- limits, and texts of our own


LIMIT = re.compile(r"\b(?:at most (?:this|so) many|at most N|less often than this|fewer \w+ than this|more than N)\b")
NO_LIMITS = {"--memory", "--prune", "--prune-rules", "--prune-yields", "--bits"}


def test_limits_are_min_max_or_top():
    named = ("--min-", "--max-", "--top")
    wrong = [(path, option.opts) for path, option in OPTIONS
             if LIMIT.search(option.help or "") and not option.opts[-1].startswith(named)]  # fmt: skip
    assert [one for one in wrong if not NO_LIMITS & set(one[1])] == []
    former_names = {"--longest", "--shortest", "--least", "--most", "--rare", "--words", "-k"}
    assert [(path, option.opts) for path, option in OPTIONS if former_names & set(option.opts)] == []


def test_an_option_of_one_command_is_in_a_guide(root):
    commands = defaultdict(set)
    for path, option in OPTIONS:
        commands[max(option.opts, key=len)].add(path)
    files = [path for name in ("docs/**/*.md", "example_nbest/**/*.md", "configs/*.toml") for path in root.glob(name)]
    guides = "\n".join(path.read_text(encoding="utf-8") for path in files)

    def is_explained(name):  # as the option of a command or of a table in a config, or as one of two forms
        word = name.removeprefix("--")
        names = f"--(?:no-)?{word}(?![-\\w])", f"(?<![-\\w]){word.replace('-', '[-_]')} *=", f"`{word}`"
        return re.search("|".join(names), guides)

    assert [name for name, paths in commands.items() if len(paths) == 1 and not is_explained(name)] == []


def test_defaults_are_shown_by_one_mechanism():
    assert [(path, option.opts) for path, option in OPTIONS if re.search("[Dd]efault: ", option.help or "")] == []
    silent = [(path, option.opts) for path, option in OPTIONS if not (option.show_default or option.is_flag)
              and isinstance(option.default, int | float | str) and option.default != ""]  # fmt: skip
    assert silent == []


def our_texts(root):
    """(name, text) of the help of all commands, and of the files that show commands to users."""
    for path, command in COMMANDS.items():
        yield f"rerank {path} --help", "\n".join([command.help or "", *(o.help or "" for p, o in OPTIONS if p == path)])
    names = ("README.md", "docs/**/*.md", "configs/*.toml", "example_nbest/**/*.md", "example_nbest/**/*.toml")
    for file in sorted(path for name in names for path in root.glob(name)):
        yield str(file.relative_to(root)), file.read_text(encoding="utf-8")


def old_names(text):
    """Former names of commands and options in the `rerank …` of a text; a command ends with its line."""
    commands = "|".join(map(re.escape, former.COMMANDS))
    yield from re.findall(rf"\brerank(?: --plugin \S+)? (?:{commands})(?![-\w.=/])", text)
    for line in re.findall(r"\brerank ([^\n`|;]+)", text.replace("\\\n", " ")):
        words = line.split(" #")[0].split()
        path = next((path for path in (" ".join(words[:2]), *words[:1]) if path in COMMANDS), None)
        if path:
            notes = []
            former.present_options(path, COMMANDS[path], words[len(path.split()) :], notes.append)
            yield from notes


def test_old_names_are_found():
    text = "`rerank score x` and\n  rerank lm score x \\\n   --lm y\n# rerank lm score x -M y\nrerank words fill -k 1"
    assert list(old_names(text.replace("`rerank score", "`rerank " + "score"))) == [
        "rerank " + "score",
        "`--lm` of `rerank lm score` is now `-M`",
        "`-k` of `rerank words fill` is now `--top`",
    ]


def test_our_texts_use_present_names(root):
    assert [(name, old) for name, text in our_texts(root) for old in old_names(text)] == []
