"""Embedded German models."""
