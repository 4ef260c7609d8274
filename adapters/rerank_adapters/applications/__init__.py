"""The applications of the chain, one package each, with its commands, tasks, file formats and reports.

Applications import the chain and what lies below it, never each other.
"""
