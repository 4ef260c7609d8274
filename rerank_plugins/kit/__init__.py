"""What several families use: trees, charts, vocabularies, back-off models, files, kernels. It registers nothing."""
