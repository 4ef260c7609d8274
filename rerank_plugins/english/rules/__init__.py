"""Rules of English grammar over dependency trees; each module names the works that a rule comes from."""
