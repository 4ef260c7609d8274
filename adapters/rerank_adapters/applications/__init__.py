"""The applications of the chain, each in a room of its own with its commands, tasks, file formats and reports.

Applications import the chain and what lies below it, never each other.
"""
