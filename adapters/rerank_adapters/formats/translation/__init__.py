"""The n-best lists that neural translation systems write, besides those with `|||` between the columns."""
