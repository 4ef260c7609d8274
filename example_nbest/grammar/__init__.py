"""A small synchronous grammar: one clause, said in German and in English, for training text of our own."""
