"""A compact phrase-based translation system: alignment, phrases, language model, beam search, n-best lists."""
