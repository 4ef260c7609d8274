"""What is done to trees: cleaning, head rules, binarisation, files of k-best lists, evaluation."""
