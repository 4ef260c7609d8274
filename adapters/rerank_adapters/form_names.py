"""The names of the forms that references, sources and outputs have, as commands, configs and readers know them."""

FORMS = ("auto", "lines", "lines-from-1", "kaldi", "trn", "json", "icefall", "fairseq", "stm", "sgm")
