"""The ids of segments: their one order, the lines that numbers denote, and how messages name them.

The order of ids ascends where all of them are numbers; other ids are in the order of their first appearance. In a file
without ids, such as one of 1-bests, the line with number i is the one of segment i: a segment that is not there has an
empty line. The first line has number 0, or 1 where the ids count from 1. Numbers with more gaps than ids, such as
100001, are names and denote no lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

MAX_NAMED_IDS = 5  # ids that a message names


def is_number(segment_id: str) -> bool:
    """Whether an id can be a line number, that is, consists of at most 18 ASCII digits only."""
    return len(segment_id) <= 18 and segment_id.isascii() and segment_id.isdigit()


def order_of_ids(ids: Iterable[str]) -> list[str]:
    """Each id once, in the order of ids.

    >>> order_of_ids(["10", "9", "10"]), order_of_ids(["b", "9", "a"])
    (['9', '10'], ['b', '9', 'a'])
    """
    distinct = dict.fromkeys(ids)
    return sorted(distinct, key=int) if all(map(is_number, distinct)) else list(distinct)


def numbers_of_lines(ids: Iterable[str]) -> range | None:
    """The numbers of the lines in a file without ids; None where the ids are names.

    >>> numbers_of_lines(["2", "0"]), numbers_of_lines(["1", "2"]), numbers_of_lines(["100001"])
    (range(0, 3), range(1, 3), None)
    """
    distinct = set(ids)
    if not distinct or not all(map(is_number, distinct)):
        return None
    numbers = set(map(int, distinct))
    lines = range(1 if min(numbers) == 1 else 0, max(numbers) + 1)
    return lines if len(numbers) == len(distinct) and len(lines) <= 2 * len(numbers) else None


def ids_of_lines(ids: Iterable[str], others: Iterable[str] = ()) -> list[str]:
    """The id of each line in a file without ids that has the segments `ids`, of which `others` are there too.

    >>> ids_of_lines(["3", "1"]), ids_of_lines(["b", "a"]), ids_of_lines(["1"], ["0", "1", "2"])
    (['1', '2', '3'], ['b', 'a'], ['0', '1', '2'])
    """
    ids = list(ids)
    known = {*ids, *others}
    lines = numbers_of_lines(known)
    if lines is None:
        return order_of_ids(ids)
    spelt = {int(id_): id_ for id_ in known}
    return [spelt.get(line, str(line)) for line in lines]


def some_of(ids: Sequence[str]) -> str:
    """The ids as a message names them: the first ones, and how many there are.

    >>> some_of(["3", "50"]), some_of(list("0123456"))
    ('3, 50', '0, 1, 2, 3, 4, … (7 ids)')
    """
    more = f", … ({len(ids)} ids)" if len(ids) > MAX_NAMED_IDS else ""
    return ", ".join(ids[:MAX_NAMED_IDS]) + more
