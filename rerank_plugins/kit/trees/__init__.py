"""Works on trees: cleaning, head rules, binarisation, files of k-best lists, evaluation."""
