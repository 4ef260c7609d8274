"""The student-activities domain of Schuler, Wu & Schwartz (2009), made again: worlds, directives and noisy n-best
lists.

outline.txt, words.txt, name_parts.txt  what was written by hand
pronunciation.py  how words sound
ontology.py       taxonomies of any size, the smallest of which is a part of all others
directives.py     what users want done
channel.py        phones that are misheard
recogniser.py     the best word sequences for what was heard, without any language model
make.py           makes the worlds, directives and lists of this folder
"""
