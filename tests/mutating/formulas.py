"""Small changes to the formulas of a module, each at one place of its source.

An operator, a comparison, a number or a function becomes another one: + and −, * and /, // and /, ** and *, < and <=,
> and >=; 0 and 1, and an offset of 1 becomes 0; min and max, argmin and argmax, any and all, floor and ceil, log and
log1p, exp and expm1, the two sides of `searchsorted`. Only the bodies of functions hold formulas: default values,
annotations, texts, the sizes of empty arrays, what an error says, and conditions under which nothing but an error
follows are left as they are.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.Pow: ("**", "*"),
}
COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
}
NUMBERS = {"0": "1", "1": "2", "2": "3", "0.0": "1.0", "1.0": "2.0", "2.0": "3.0", "0.5": "1.5"}
_PAIRS = (("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("any", "all"), ("floor", "ceil"))
FUNCTIONS = dict(_PAIRS) | {second: first for first, second in _PAIRS} | {"log": "log1p", "exp": "expm1"}
SIDES = {"'left'": '"right"', '"left"': '"right"', '"right"': '"left"'}
_TEXT = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp)


@dataclass(frozen=True)
class Mutation:
    """A change to one file: the bytes from `start` to `end` become `new`. Its statement is on some `lines`."""

    path: str
    line: int
    column: int  # from 1
    start: int
    end: int
    old: str
    new: str
    lines: tuple[int, int]
    text: str  # the line in the source, stripped

    @property
    def is_equivalent(self) -> bool:
        """Whether a comment on its line says why it makes no difference: `# equal: the reason`."""
        return "# equal: " in self.text

    def applied(self, source: bytes) -> bytes:
        """The source with the change."""
        return source[: self.start] + self.new.encode() + source[self.end :]


def mutations(path: Path, root: Path) -> list[Mutation]:
    """All mutations of a module, in the order of its source."""
    source = path.read_bytes()
    found = _Formulas(source, path.relative_to(root).as_posix())
    found.visit(ast.parse(source))
    return sorted(found.mutations, key=lambda each: (each.start, each.end))


def _is_text(node: ast.expr) -> bool:
    """Whether a sum or product with this operand is one of texts or lists, or the operand is the name of a file."""
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, _TEXT) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))


def _only_raises(statements: list[ast.stmt]) -> bool:
    return all(isinstance(each, ast.Raise) for each in statements)


class _Formulas(ast.NodeVisitor):
    """Collects the mutations of a source."""

    def __init__(self, source: bytes, path: str) -> None:
        self.mutations: list[Mutation] = []
        self._path = path
        self._source = source
        self._lines = source.split(b"\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._statement: tuple[int, int] | None = None  # the lines of the innermost one; None outside functions

    def _start(self, node: ast.AST) -> int:
        return self._starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]

    def _end(self, node: ast.AST) -> int:
        return self._starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def _add(self, start: int, end: int, new: str) -> None:
        if self._statement:
            line = self._source.count(b"\n", 0, start) + 1
            column = len(self._source[self._starts[line - 1] : start].decode()) + 1
            text = self._lines[line - 1].decode().strip()
            old = self._source[start:end].decode()
            self.mutations.append(Mutation(self._path, line, column, start, end, old, new, self._statement, text))

    def _add_operator(self, left: ast.expr | ast.operator, right: ast.expr, old: str, new: str) -> None:
        """The operator is between its operands, with parentheses and comments perhaps."""
        start, end = self._end(left), self._start(right)
        between = re.sub(rb"#[^\n]*", lambda comment: b" " * len(comment[0]), self._source[start:end])
        place = start + between.index(old.encode())
        self._add(place, place + len(old), new)

    def visit(self, node: ast.AST) -> None:
        """Visit a node; a statement within a function becomes the present one while its parts are visited."""
        before = self._statement
        if isinstance(node, ast.stmt) and before:
            parts: list[ast.AST] = [part for part in _header(node) if hasattr(part, "end_lineno")]
            first, last = node.lineno, node.end_lineno or node.lineno
            if isinstance(node, ast.If | ast.For | ast.While | ast.With | ast.Try | ast.Match):
                last = max((part.end_lineno for part in parts), default=first)  # type: ignore[attr-defined]
            self._statement = (first, last)
        super().visit(node)
        self._statement = before

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        before, self._statement = self._statement, (node.lineno, node.lineno)
        for statement in node.body:
            self.visit(statement)
        self._statement = before

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.body)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        """What an error says is no formula."""

    def visit_Assert(self, node: ast.Assert) -> None:
        """Neither is what is taken for granted."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Python 3.11 does not say where the parts of an f-string are."""

    def visit_If(self, node: ast.If) -> None:
        if not _only_raises(node.body):
            self.visit(node.test)
        for statement in (*node.body, *node.orelse):
            self.visit(statement)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in ARITHMETIC and not (_is_text(node.left) or _is_text(node.right)):
            self._add_operator(node.left, node.right, *ARITHMETIC[type(node.op)])
        for operand in (node.left, node.right):
            if isinstance(operand, ast.Constant) and isinstance(node.op, ast.Add | ast.Sub) and operand.value == 1:
                self._add(self._start(operand), self._end(operand), "0")
            else:
                self.visit(operand)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if type(node.op) in ARITHMETIC and not _is_text(node.value):
            old, new = ARITHMETIC[type(node.op)]
            self._add_operator(node.target, node.value, f"{old}=", f"{new}=")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
            self._add(self._start(node), self._start(node) + 1, "+")
        if not (isinstance(node.operand, ast.Constant) and isinstance(node.operand.value, int)):  # -1: the last of some
            self.visit(node.operand)

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
            if type(operator) in COMPARISONS:
                self._add_operator(left, right, *COMPARISONS[type(operator)])
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)
        if not isinstance(node.slice, ast.Constant | ast.UnaryOp):  # a part by its number
            self.visit(node.slice)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg == "ddof" and isinstance(node.value, ast.Constant):
            self._add(self._start(node.value), self._end(node.value), "1" if node.value.value == 0 else "0")
        elif node.arg != "axis":
            self.visit(node.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        old = self._source[self._start(node) : self._end(node)].decode()
        if old in NUMBERS or (old in SIDES and isinstance(node.value, str)):
            self._add(self._start(node), self._end(node), (NUMBERS | SIDES)[old])

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in FUNCTIONS and (isinstance(node.func, ast.Attribute) or name not in ("log", "exp")):
            end = self._end(node.func)
            self._add(end - len(name), end, FUNCTIONS[name])
        if name != "empty":
            self.generic_visit(node)


def _header(node: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement that are no statements."""
    for part in ast.iter_child_nodes(node):
        if not isinstance(part, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield part
