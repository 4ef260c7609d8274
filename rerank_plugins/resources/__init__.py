"""Embedded models. Each folder's README says which command made its files, from which texts."""
