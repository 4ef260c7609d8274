"""Projects dependency trees from one language to another through word alignments, and compares them with parses."""
