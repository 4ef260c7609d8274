"""Test suites of targeted syntactic evaluation."""
