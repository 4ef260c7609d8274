"""Reads the texts of files, and those of the segments that a test asks for."""

from rerank_adapters.texts.pairing import for_segments
from rerank_adapters.texts.reading import read_texts


def references(paths, ids, form="auto"):
    """The references of each id, one for each file."""
    return for_segments([read_texts(path, "reference", form) for path in paths], ids)


def outputs(path, ids, form="auto"):
    """The output of each id."""
    return [text for (text,) in for_segments([read_texts(path, "output", form)], ids)]


def ids_of(path, form="auto"):
    """The ids of the references in a file."""
    return read_texts(path, "reference", form).ids
