"""The base of logarithms: natural in this program, 10 in ARPA files and in the scores of KenLM and SRILM."""

import math

LN10 = math.log(10.0)  # a natural logarithm divided by this is one of base 10
