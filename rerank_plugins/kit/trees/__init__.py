"""Constituency and dependency trees, their transformations, file formats and evaluation."""
