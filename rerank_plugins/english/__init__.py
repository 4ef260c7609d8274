"""Rules of English grammar over dependency trees, errors made on purpose, and minimal pairs.

Errors are those of Foster, Wagner and van Genabith (2008); the pairs are of the kinds of BLiMP (Warstadt et al. 2020).
"""
