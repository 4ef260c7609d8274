"""Code of several families: trees, charts, vocabularies, back-off models, files, kernels. It registers nothing."""
