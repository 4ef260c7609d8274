"""What several families share: trees, vocabularies, back-off models, files, kernels. It registers nothing."""
