"""The parts that several families use: trees, vocabularies, back-off models, files, kernels. It registers nothing."""
