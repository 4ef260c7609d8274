"""The commands of the chain, each in its module, and what all commands share."""
