"""Features of the list alone: length, rank, decoder scores, scores computed elsewhere, consensus.

Consensus by n-gram posteriors is minimum-Bayes-risk decoding (Kumar and Byrne 2004); word posteriors come from
confusion networks (Mangu, Brill and Stolcke 2000).
"""
