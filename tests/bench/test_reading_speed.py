"""Reading n-best lists and making the decoder's table, against a parser with one regular expression a line."""

import time

import pytest

from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.decoder_features import decoder_table
from rerank_adapters.formats.reading import read_nbest
from rerank_plugins.kit.files.text import open_atomic, open_text
from tests.bench.timing import report, timed
from tests.formats import naive_formats

SEGMENTS, SIZE = 50, 100


def lines(spell):
    for s in range(SEGMENTS):
        for h in range(SIZE):
            values = [round(-0.37 * i - 0.011 * h - s, 5) for i in range(12)]
            yield f"{s} ||| this is hypothesis number {h} of the segment {s} . ||| {spell(values, h)} ||| {-h / 7:.5f}\n"


def moses(values, h):
    return f"TM0= {' '.join(map(str, values[:7]))} LM0= {values[7]} W= {values[8]} O= 0 G= {values[9]} P= {values[10]}"


def moses_sparse(values, h):
    return moses(values, h) + "".join(f" wt_{i}~{h % 7 + i}= 1" for i in range(8))


def cdec(values, h):
    return " ".join(f"Feature{i}={value}" for i, value in enumerate(values))


def table(path, format):
    return decoder_table(read_nbest([path], format), format.dense_rule)


def naive_table(path, names):
    with open_text(path) as stream:
        return naive_formats.table(naive_formats.read(stream), names)


@pytest.mark.benchmark(timer=time.process_time)
@pytest.mark.parametrize(
    ("spell", "format"),
    [(moses, FORMATS["moses"]()), (moses_sparse, FORMATS["moses"]()), (cdec, FORMATS["cdec"]())],
    ids=["moses dense", "moses sparse", "cdec"],
)
def test_reading(benchmark, tmp_path, spell, format):
    path = tmp_path / "lists.gz"
    with open_atomic(path) as stream:
        stream.writelines(lines(spell))
    made = benchmark(table, path, format)
    assert len(made.values) == SEGMENTS * SIZE
    naive, seconds = timed(naive_table, path, made.names)
    assert (naive == made.values).all()
    report(benchmark, "the naive parser", seconds, SEGMENTS * SIZE, "hypotheses")
