"""The steps of the chain, one module each, as the commands, the applications and the Python API call them."""
