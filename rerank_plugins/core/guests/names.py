"""What messages call a guest: its kind, the name in its registration, and the distribution or file that it is from."""

from __future__ import annotations

from typing import Any, NamedTuple

OURS = ("rerank_plugins", "rerank_adapters")  # packages whose classes are no guests
SHOWN = 60  # characters of a value or a sentence in a message


class Registered(NamedTuple):
    """The kind and name of an entry, and its owner: `module (distribution)`, or the path of a file."""

    kind: str
    name: str
    owner: str


_registered: dict[str, dict[Registered, None]] = {}  # by the name of the class; the entries in order


def is_ours(kind: Any) -> bool:
    """Whether a class or function is the project's own."""
    return kind.__module__.partition(".")[0] in OURS


def class_name(kind: type) -> str:
    """The name of a class with that of its module."""
    return f"{kind.__module__}.{kind.__qualname__}"


def remember(kind: type, registered: Registered) -> None:
    """Let messages about the objects of this class name an entry of the registry."""
    _registered.setdefault(class_name(kind), {})[registered] = None


def described(kind: type) -> str:
    """The name of a guest in messages, as `metric 'own' of own_metrics (own-metrics)`.

    A class that was never registered in this process, as in a worker, is called by its own name.
    """
    known = _registered.get(class_name(kind))
    if not known:
        return f"plugin {class_name(kind)}"
    first = next(iter(known))
    names = " or ".join(dict.fromkeys(repr(entry.name) for entry in known))
    return f"{first.kind.replace('_', ' ')} {names} of {first.owner}"


def owner(kind: type) -> str:
    """The owner of a registered guest after a space, as ` of own_metrics (own-metrics)`; empty for other classes."""
    known = _registered.get(class_name(kind))
    return f" of {next(iter(known)).owner}" if known else ""


def shown(value: object) -> str:
    """A value as messages quote it, cut where it is long; a value whose `repr` fails is shown by its type."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # the class of a guest may define it
        text = f"a {type(value).__name__}"
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
