"""Rules of options: all commands are walked, so that a name means one thing everywhere."""

import re
from collections import defaultdict

import click

from rerank_adapters.cli.commands import program


def walked(group, context=None, path=""):
    """(path, command) of all commands, groups left out: `lm score`, `tune`."""
    context = context or click.Context(group, info_name="rerank")
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from walked(command, click.Context(command, info_name=name, parent=context), f"{path}{name} ")
        else:
            yield f"{path}{name}", command


COMMANDS = dict(walked(program()))
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
        assert len(long) <= 1
        for name in short:
            meanings[name].add(long[0] if long else None)
    assert meanings == {name: {meaning} for name, meaning in MEANINGS.items()}


def test_each_long_option_has_the_short_one_of_its_meaning():
    short_of = {long: short for short, long in MEANINGS.items() if long}
    lacking = {(path, name) for path, option in OPTIONS for name in option.opts
               if short_of.get(name) not in (None, *option.opts)}  # fmt: skip
    assert {(path, name) for path, name in lacking if name != "--model"} - FREE == set()


FREE = {("negatives errors", "--parser")}


def test_the_form_of_the_output_has_one_name():
    forms = {name for _, option in OPTIONS for name in option.opts
             if {"json", "tsv", "markdown", "brackets", "kaldi", "toml"} & set(getattr(option.type, "choices", ()))}  # fmt: skip
    assert forms == {"--as", "--reference-form", "--system-form"}  # the last two are those of inputs
    other = {"--layout", "--output-form", "--to", "--markdown", "--tree", "--form"}
    assert [(path, option.opts) for path, option in OPTIONS if other & set(option.opts)] == []


# --- limits, and texts of our own


LIMIT = re.compile(r"\b(?:at most (?:this|so) many|at most N|less often than this|fewer \w+ than this|more than N)\b")
NO_LIMITS = {"--prune", "--prune-rules", "--prune-yields", "--bits"}


def test_limits_are_min_max_or_top():
    named = ("--min-", "--max-", "--top")
    wrong = [(path, option.opts) for path, option in OPTIONS
             if LIMIT.search(option.help or "") and not option.opts[-1].startswith(named)]  # fmt: skip
    assert [one for one in wrong if not NO_LIMITS & set(one[1])] == []
    other_names = {"--longest", "--shortest", "--least", "--most", "--rare", "--words", "-k"}
    assert [(path, option.opts) for path, option in OPTIONS if other_names & set(option.opts)] == []


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


def unknown_options(text):
    """The options in the `rerank …` of a text that the command has not; a command ends with its line."""
    for line in re.findall(r"\brerank ([^\n`|;]+)", text.replace("\\\n", " ")):
        words = line.split(" #")[0].split()
        path = next((path for path in (" ".join(words[:2]), *words[:1]) if path in COMMANDS), None)
        if path is None:
            continue
        known = {name for of, option in OPTIONS if of == path for name in (*option.opts, *option.secondary_opts)}
        for word in words:
            if (match := re.match(r"(--[a-z][-a-z]+|-[A-Za-z](?![-\w]))", word)) and match[1] not in {*known, "--help"}:
                yield f"rerank {path} {match[1]}"


def test_unknown_options_are_found():
    text = "`rerank lm score x \\\n   --lm y -M x`\n# rerank lm score x -M y\nrerank words fill -k 1"
    assert list(unknown_options(text)) == ["rerank lm score --lm", "rerank words fill -k"]


def test_our_texts_use_known_options(root):
    assert [(name, option) for name, text in our_texts(root) for option in unknown_options(text)] == []
