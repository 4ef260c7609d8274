"""Confusion networks: hypotheses aligned word by word in slots, with the posteriors of the words of each slot.

network.py    the network of weighted hypotheses, its words of highest posterior, expected errors
alignment.py  the kernel that aligns a hypothesis with the slots so far
voting.py     the votes of systems in each slot, by frequency and confidence
"""

from rerank_plugins.models.confusion_networks.network import ConfusionNetwork
from rerank_plugins.models.confusion_networks.voting import CONFIDENCES, ConfidenceKind, Voting

__all__ = ["CONFIDENCES", "ConfidenceKind", "ConfusionNetwork", "Voting"]
