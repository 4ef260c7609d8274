"""Registers the tuners, which find feature weights from a feature table and the statistics of a metric."""

from rerank_plugins import hookimpl
from rerank_plugins.core.hookspecs import Register


@hookimpl
def register_tuners(register: Register) -> None:
    """Register the tuners of this package."""
    register("mert", "rerank_adapters.tuners.mert:Mert")
    register("pro", "rerank_adapters.tuners.pro:Pro")
    register("mira", "rerank_adapters.tuners.mira:Mira")
    register("expected-risk", "rerank_adapters.tuners.expected_risk:ExpectedRisk")
    register("mbr", "rerank_adapters.tuners.mbr:Mbr")
    register("grid", "rerank_adapters.tuners.grid:Grid")
