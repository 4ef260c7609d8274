"""Tuners, which find feature weights from a feature table and the statistics of a metric."""
