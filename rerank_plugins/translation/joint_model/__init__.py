"""A neural network joint model (Devlin et al. 2014): words of a translation, given the words before and the source."""
