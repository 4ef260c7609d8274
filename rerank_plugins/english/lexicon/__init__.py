"""Verbs, nouns and names of English: their forms, frames, gender and animacy."""
