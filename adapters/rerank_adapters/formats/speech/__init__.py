"""The n-best lists that speech recognisers write, one module for each recogniser or toolkit."""
