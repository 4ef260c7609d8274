"""The command line: the program, its groups of commands, the options that several commands have, and the commands."""
