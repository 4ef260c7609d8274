"""Reports an evaluation: tables for the terminal, files and papers, one HTML page, plots."""
