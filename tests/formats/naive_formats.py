"""Obvious twins of the n-best readers: one regular expression a line, no layout remembered, no checks."""

import csv
import io
import re

import numpy as np

GROUP = re.compile(r"(\S+?)[=:]\s*((?:[-+.\deE]+(?:\s+|$))+)")


def parse_line(line):
    """id, text, [(label, values)], total of a Moses line."""
    id_, text, features, score, *_ = line.split("|||")
    groups = [(label, [float(v) for v in values.split()]) for label, values in GROUP.findall(features)]
    return id_.strip(), text.strip(), groups, float(score)


def read(lines):
    """segment id -> list of (text, {name: value}, total), lists merged by id in order of appearance."""
    lists = {}
    for line in lines:
        id_, text, groups, score = parse_line(line)
        features = {}
        for label, values in groups:
            for i, value in enumerate(values):
                features[f"{label}_{i}" if len(values) > 1 else label] = value
        lists.setdefault(id_, []).append((text, features, score))
    return lists


def table(lists, names):
    """Rows of the named features, absent as 0."""
    return np.array([[features.get(n, 0.0) for n in names] for rows in lists.values() for _, features, _ in rows])


def merged(lists):
    """Each (text, features) once, per id, ids ascending as numbers."""
    result = []
    for id_ in sorted({id_ for id_, _ in lists}, key=int):
        seen, rows = [], []
        for other, hypotheses in lists:
            for hypothesis in hypotheses if other == id_ else []:
                key = (hypothesis.text, hypothesis.features, dict(hypothesis.sparse))
                if key not in seen:
                    seen.append(key)
                    rows.append(hypothesis)
        result.append((id_, rows))
    return result


def combined(decoders, id_):
    """Rows (text, features) of a segment: `decoders` has for each decoder's name its lists, as {id: [(text, values)]}.

    Each decoder's last value is its total.
    """
    texts = dict.fromkeys(text for lists in decoders.values() for text, _ in lists.get(id_, []))
    rows = []
    for text in texts:
        features = []
        for lists in decoders.values():
            own = lists.get(id_, [])
            ranks = [rank for rank, (other, _) in enumerate(own, 1) if other == text]
            width = len(next(iter(lists.values()))[0][1])
            if ranks:
                features += [*own[ranks[0] - 1][1], 1 / ranks[0], 1]
            elif own:
                features += [*(min(values[c] for _, values in own) for c in range(width)), 0, 0]
            else:
                features += [0] * (width + 2)
        rows.append((text, features))
    return rows


def naive_rows(table, separator):
    """(id, texts, totals, features) of each segment in a table with the columns id, text, score, lm and others."""
    rows = list(csv.DictReader(io.StringIO(table, newline=""), delimiter=separator))
    segments = list(dict.fromkeys(row["id"] for row in rows))
    result = []
    for segment in segments:
        own = [row for row in rows if row["id"] == segment]
        texts = [" ".join(part for piece in row["text"].split("\t") if (part := piece.strip())) for row in own]
        texts = [text if "\t" in row["text"] else row["text"].strip() for text, row in zip(texts, own, strict=True)]
        result.append((segment, texts, [float(row["score"]) for row in own], [(float(row["lm"]),) for row in own]))
    return result
