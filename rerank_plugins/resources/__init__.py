"""The files of embedded models, by language, and the programs that made them; no code imports these at run time."""
