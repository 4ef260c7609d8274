"""The chain, a step a module: what the commands, the applications and the Python API call."""
