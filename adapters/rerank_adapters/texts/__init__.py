"""Sources, references and outputs of systems: read by id in the role that they are given in, and paired."""
