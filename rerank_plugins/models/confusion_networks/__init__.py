"""Confusion networks: hypotheses aligned word by word, with the posterior of each word in its place.

network.py    the network of weighted hypotheses, its words of highest posterior, expected errors
alignment.py  the kernel that aligns a hypothesis with the slots so far
"""

from rerank_plugins.models.confusion_networks.network import ConfusionNetwork

__all__ = ["ConfusionNetwork"]
