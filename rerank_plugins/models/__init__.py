"""The algorithms, one package each; none of them imports plugins, configuration files or the command line."""
