"""Models and their algorithms; language models are registered here."""
