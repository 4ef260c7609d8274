"""Trains the models of registered trainers: makes their commands, and opens the data that each declares to read."""
