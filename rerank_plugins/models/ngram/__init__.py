"""N-gram models: their estimation from text, and sentences drawn from them."""
