"""The words of models by number, and what stands for the words outside a vocabulary."""
