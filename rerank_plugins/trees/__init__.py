"""Trees and their file formats."""
