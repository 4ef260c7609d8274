"""The commands of , one a file."""
