"""Word alignment: the links between the words of sentence pairs."""
