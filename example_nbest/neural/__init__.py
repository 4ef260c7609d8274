"""A small Transformer in torch: the decoder and the source of scores of the neural n-best lists."""
