"""Wraps the methods of a guest: its errors become one line that names it, and what it returns is checked.

The interfaces do this when a class is defined, so that it holds in worker processes and for users of the Python API
too. A change of the arguments is an error as well (arguments.py), except where a method is called for each word. Errors
that a plugin raises on purpose (RerankError) stay as they are.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

from rerank_plugins.core.errors import PluginError, RerankError
from rerank_plugins.core.guests.arguments import state
from rerank_plugins.core.guests.names import class_name, described, is_ours, shown
from rerank_plugins.core.guests.stdout import Inside

Value = TypeVar("Value")
PASSED_ON = (RerankError, MemoryError, BrokenPipeError)  # errors that have lines of their own
MARK = "_of_a_guest"  # the attribute of a wrapped method


class GuestError(PluginError):
    """A guest has failed or returned what its contract forbids; `reason` is the message without its name."""

    def __init__(self, message: str, kind: str = "", reason: str = "") -> None:
        self.kind, self.reason = kind, reason
        super().__init__(message)


class Call(NamedTuple):
    """A call of a guest's method, which checks get: the object, the method, and its arguments without the object."""

    plugin: Any
    method: str
    given: tuple[Any, ...]

    def wanted(self, found: str, wanted: str, where: str = "") -> GuestError:
        """The error for a value: `metric 'own' of FILE: score, segment 3: found …, wanted …`."""
        return self.error(f"{self.method}{f', {where}' if where else ''}: found {found}, wanted {wanted}")

    def error(self, reason: str) -> GuestError:
        """An error of this plugin."""
        kind = type(self.plugin)
        return GuestError(f"{described(kind)}: {reason}", class_name(kind), reason)


Check = Callable[[Call, Any], Any]  # (call, value) -> the value to return. Raises GuestError


class Contract(NamedTuple):
    """The check of what a method returns, and how it is called: `streams` yields values, which are checked one by one.

    The check of a stream gets the call when iteration starts, and returns the check of each value. `sentences` is true
    of methods of a batch of sentences, whose errors name the sentence; `often` of those that are called for each word.
    """

    check: Any
    streams: bool = False
    sentences: bool = False
    often: bool = False


class GuestsAreChecked:
    """A base of interfaces, which wraps the methods of guests that implement them."""

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        wrap(cls)


_contracts: dict[type, Mapping[str, Contract]] = {}  # by interface and method


def declare(contracts: Mapping[type, Mapping[str, Contract]]) -> None:
    """Declare the contracts of interfaces (contracts.py)."""
    _contracts.update(contracts)


def _contracts_of(cls: type) -> dict[str, Contract]:
    """The contracts of a class by the names of its methods."""
    import_module(f"{__package__}.contracts")  # which declares them: it imports the interfaces, and they this module
    tables = [contracts for interface, contracts in _contracts.items() if issubclass(cls, interface)]
    return {name: contract for table in tables for name, contract in table.items()}


def wrap(cls: type) -> None:
    """Wrap the methods of a class that is a guest; those that it inherits from the project are left as they are."""
    if is_ours(cls):
        return
    for name, contract in _contracts_of(cls).items():
        owner = next((base for base in cls.__mro__ if name in vars(base)), None)
        if owner is not None and owner is not object and not is_ours(owner):
            _wrap_member(cls, name, vars(owner)[name], contract)


def _wrap_member(cls: type, name: str, member: Any, contract: Contract) -> None:
    if inspect.isfunction(member) and not hasattr(member, MARK):
        setattr(cls, name, _streaming(member, contract) if contract.streams else _calling(member, contract))
    elif isinstance(member, property) and member.fget is not None and not hasattr(member.fget, MARK):
        setattr(cls, name, property(_calling(member.fget, contract), member.fset, member.fdel, member.__doc__))
    elif isinstance(member, cached_property) and not hasattr(member.func, MARK):
        wrapped = cached_property(_calling(member.func, contract))
        wrapped.__set_name__(cls, name)
        setattr(cls, name, wrapped)


def _calling(method: Callable[..., Any], contract: Contract) -> Callable[..., Any]:
    name, check = method.__name__, contract.check
    inside = Inside(native=not contract.often)

    @functools.wraps(method)
    def calling(self: Any, *given: Any, **named: Any) -> Any:
        before = None if contract.often else state((*given, *named.values()))
        try:
            with inside:
                value = method(self, *given, **named)
        except PASSED_ON:
            raise
        except (Exception, SystemExit) as error:
            call = Call(self, name, (*given, *named.values()))
            raise call.error(f"{name}{_place(method, call, contract)}: {said(error)}") from error
        if before is not None and before != state((*given, *named.values())):
            fault = (
                "it changed in place what it was given; wanted a copy, as sorted(sentences) or values - mean makes it"
            )
            raise Call(self, name, given).error(f"{name}: {fault}")
        return check(Call(self, name, (*given, *named.values())), value) if check else value

    setattr(calling, MARK, True)
    return calling


def _streaming(method: Callable[..., Any], contract: Contract) -> Callable[..., Any]:
    name = method.__name__

    @functools.wraps(method)
    def streaming(self: Any, *given: Any, **named: Any) -> Iterator[Any]:
        call = Call(self, name, (*given, *named.values()))
        check = contract.check(call)
        values = guarded_call(call, lambda: iter(method(self, *given, **named)))
        ended = object()
        while (value := guarded_call(call, lambda: next(values, ended))) is not ended:
            yield check(value)

    setattr(streaming, MARK, True)
    return streaming


def guarded_call(call: Call, action: Callable[[], Value]) -> Value:
    """What the action, which is code of a guest, returns. Raises GuestError for any error without a line of its own."""
    try:
        with Inside():
            return action()
    except PASSED_ON:
        raise
    except (Exception, SystemExit) as error:
        raise call.error(f"{call.method}: {said(error)}") from error


def said(error: BaseException) -> str:
    """The type and the text of an error, in one line."""
    if isinstance(error, SystemExit):
        return f"SystemExit: {error.code}: it ended the program; wanted an error"
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _place(method: Callable[..., Any], call: Call, contract: Contract) -> str:
    """The first sentence that alone makes the method fail, for an error; empty where it fails for none."""
    if not (contract.sentences and call.given and isinstance(call.given[0], Sequence)):
        return ""
    for sentence in call.given[0]:
        try:
            with Inside():
                method(call.plugin, [sentence])
        except (Exception, SystemExit):
            return f", sentence {quoted(sentence)}"
    return ""


def quoted(sentence: Sequence[str]) -> str:
    """A sentence as messages quote it."""
    return shown(" ".join(map(str, sentence)))
