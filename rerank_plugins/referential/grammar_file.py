"""Reads grammars from text files with one expression on each line.

    start NP                                  # the category of sentences; default: the first one
    NP   -> Det Adj* Noun (PP | RC)*
    Adj  -> executable        ; shift EXECUTABLE
    Adj  -> not Adj           ; reduce NOT
    RC   -> containing NP     ; shift CONTAIN ; reduce CONTAIN' ; weight 2
    Step -> {down}

`#` begins a comment. Relations that are not given are IDENTITY. The expressions of a category that have the same shift
relation divide its probability by their weights, which are 1 unless given. A label with spaces stands in double quotes.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

from rerank_plugins.core.errors import FormatError
from rerank_plugins.referential.expressions import compile_expression
from rerank_plugins.referential.grammar import CLASSES, Expression, Grammar
from rerank_plugins.referential.relations import IDENTITY

COMMENT = re.compile(r'"[^"]*"|(#.*)')
OPTIONS = ("shift", "reduce", "weight")


def read_grammar(path: Path) -> Grammar:
    """Read a grammar. Raises FormatError with the file and the line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise FormatError(f"cannot be read ({error.strerror})", path=str(path)) from None
    except UnicodeDecodeError as error:
        raise FormatError(f"not UTF-8 text (byte {error.start})", path=str(path)) from None
    start, start_line, expressions = "", None, []
    for number, raw in enumerate(lines, 1):
        line = COMMENT.sub(lambda match: "" if match[1] else match[0], raw).strip()
        if not line:
            continue
        try:
            if line.split()[0] == "start" and not re.search("->|→", line):
                start, start_line = " ".join(line.split()[1:]), number
            else:
                expressions.append(_expression(line, number))
        except RecursionError:
            raise FormatError("the brackets are nested too deeply", path=str(path), line=number) from None
        except ValueError as error:
            raise FormatError(str(error), path=str(path), line=number) from None
    if not expressions:
        raise FormatError("a grammar without expressions; wanted lines such as NP -> Det Noun", path=str(path))
    return Grammar(start or expressions[0].category, tuple(expressions), str(path), start_line)


def _expression(line: str, number: int) -> Expression:
    """The expression of a line. Raises ValueError, with the reason."""
    head, *settings = (part.strip() for part in re.split(r";(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)", line))
    match = re.fullmatch(r"(\S+)\s*(?:->|→)\s*(.*)", head)
    if match is None:
        raise ValueError(f"found {head!r}, wanted CATEGORY -> EXPRESSION")
    category, text = match.groups()
    if not category[0].isupper():
        raise ValueError(f"category {category!r} must begin with a capital letter")
    options: dict[str, str] = {}
    for setting in settings:
        key, _, value = setting.partition(" ")
        if key not in OPTIONS or not value.strip() or key in options:
            raise ValueError(f"found {setting!r}, wanted shift LABEL, reduce LABEL or weight NUMBER, each once")
        options[key] = value.strip().strip('"')
    try:
        weight = float(options.get("weight", "1"))
    except ValueError:
        weight = math.nan
    if not (math.isfinite(weight) and weight > 0):
        raise ValueError(f"weight {options['weight']!r}, wanted a positive number")
    labels = text if text in CLASSES else ""
    if labels and "shift" in options:
        raise ValueError(f"{labels} brings its own shift relations")
    if re.fullmatch(r"\{\w+\}", text) and not labels:
        raise ValueError(f"unknown {text}, wanted {' or '.join(CLASSES)}")
    automaton = None if labels else compile_expression(text)
    shift, reduce = options.get("shift", IDENTITY), options.get("reduce", IDENTITY)
    return Expression(category, automaton, labels, shift, reduce, weight, number)
