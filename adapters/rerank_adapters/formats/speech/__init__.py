"""The n-best lists that speech recognisers write: one file here for each recogniser or toolkit."""
