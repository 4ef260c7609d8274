"""Registers the tuners, which find feature weights from a feature table and the statistics of a metric."""

from rerank_plugins import hookimpl
from rerank_plugins.core.hookspecs import Register


@hookimpl
def register_tuners(register: Register) -> None:
    """Register the tuners of this package."""
    from rerank_adapters.tuners.boosted import Boosted
    from rerank_adapters.tuners.expected_risk import ExpectedRisk
    from rerank_adapters.tuners.grid import Grid
    from rerank_adapters.tuners.mbr import Mbr
    from rerank_adapters.tuners.mert import Mert
    from rerank_adapters.tuners.mira import Mira
    from rerank_adapters.tuners.pro import Pro

    register("mert", Mert)
    register("pro", Pro)
    register("mira", Mira)
    register("expected-risk", ExpectedRisk)
    register("mbr", Mbr)
    register("boosted", Boosted)
    register("grid", Grid)
