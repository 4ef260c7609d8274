"""Model files that are changed on purpose, so that their checksums fit, or their bytes do not."""

import numpy as np

from rerank_plugins.core.files import add_checksums, checked


def content_of(path):
    """The bytes of a file without its checksums."""
    return checked(np.fromfile(path, np.uint8)).tobytes()


def write_content(path, content):
    """Write a file with checksums that fit, whatever it holds; an empty one without."""
    path.write_bytes(content)
    if content:
        add_checksums(path)


def check_damage_is_seen(path, read, error, *, flips=40, seed=1):
    """That `read(path)` raises `error` in one line, with the file's name, whatever single byte of the file is changed,
    wherever it is cut short, whatever is added to it. The file is then as before.
    """
    whole, rng = path.read_bytes(), np.random.default_rng(seed)
    size = len(whole)
    ends = {*range(24), *range(size - 44, size)} & set(range(size))
    places = sorted({*rng.integers(0, size, flips).tolist(), *rng.choice(sorted(ends), flips // 2).tolist()})
    damaged = []
    for place in places:
        changed = bytearray(whole)
        changed[place] ^= int(rng.integers(1, 256))
        damaged.append((f"byte {place} changed", bytes(changed)))
    lengths = {0, 1, 15, size // 2, size - 1, size - 8, size - 20, size - 28, *rng.integers(0, size, 6).tolist()}
    damaged += [(f"cut to {length}", whole[:length]) for length in sorted(lengths) if 0 <= length < size]
    damaged += [("added to", whole + end) for end in (b"\0", b"\n", bytes(64), whole[-20:], whole)]
    try:
        for what, content in damaged:
            path.write_bytes(content)
            said = ""
            try:
                read(path)
            except error as damage:
                said = str(damage)
            assert str(path) in said, f"{what}: not seen"
            assert "\n" not in said, what
    finally:
        path.write_bytes(whole)
    read(path)
