"""How the tests of formulas are tested: small changes to formulas, and the tests that notice them."""
