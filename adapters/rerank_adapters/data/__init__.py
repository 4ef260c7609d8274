"""N-best lists with their references: read, paired, checked, and compared with the lists that weights were tuned on."""
