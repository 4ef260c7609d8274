"""The dialects of `|||`-separated n-best lists: Moses, cdec, Joshua, Travatar, Marian.

    Moses     id ||| text ||| LM0= -9 TM0= -1 -2 wt_a~b= 1 ||| total [||| segmentation] [||| alignment]
    cdec      id ||| text ||| LanguageModel=-9 Glue=1 ||| total
    Joshua    id ||| text ||| tm_pt_0=-1 lm_0=-9 ||| total [||| alignment]      (old: values without labels)
    Travatar  id ||| text ||| total ||| egf=-1 lm=-9 [||| alignment]
    Marian    id ||| text [||| alignment] [||| WordScores= ...] ||| F0= -9 F1= -2 ||| total

In Moses's lists a label with an underscore names a sparse feature (mert/Data.cpp); all other features are dense and
stand on every line. Missing groups and `nan`, which Moses's own tools accept, are errors here. cdec, Joshua and
Travatar leave features whose value is 0 out of a line, so all their names are read as sparse, an absent one is 0, and
`DenseRule` says which become columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rerank_adapters.formats.delimited import DelimitedFormat


@dataclass(frozen=True)
class MosesFormat(DelimitedFormat):
    """Moses n-best lists: dense groups `X= a b`, sparse features `name_x= v`, total, alignments."""

    underscore_is_sparse: ClassVar[bool] = True


@dataclass(frozen=True)
class CdecFormat(DelimitedFormat):
    """cdec k-best lists: `name=value`, where features that are 0 are left out."""

    separator: ClassVar[str] = "="
    absent_is_zero: ClassVar[bool] = True


@dataclass(frozen=True)
class JoshuaFormat(DelimitedFormat):
    """Joshua n-best lists: `name=value`, or values without labels (old versions), named feature_0, feature_1 ..."""

    separator: ClassVar[str] = "="
    absent_is_zero: ClassVar[bool] = True


@dataclass(frozen=True)
class TravatarFormat(DelimitedFormat):
    """Travatar n-best lists: the total precedes the features, which are `name=value`; zeros are left out."""

    layout: ClassVar[str] = "id ||| text ||| score ||| features [||| ...]"
    columns_at_least: ClassVar[int] = 4
    features_column: ClassVar[int] = 3
    score_column: ClassVar[int] = 2
    separator: ClassVar[str] = "="
    absent_is_zero: ClassVar[bool] = True


@dataclass(frozen=True)
class MarianFormat(DelimitedFormat):
    """Marian n-best lists: model scores F0, F1 ... and the normalised total; alignment and word scores before them."""

    layout: ClassVar[str] = "id ||| text [||| ...] ||| features ||| score"
    columns_at_least: ClassVar[int] = 4
    features_column: ClassVar[int] = -2
    score_column: ClassVar[int] = -1
