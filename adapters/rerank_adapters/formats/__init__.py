"""File formats of n-best lists, with reference files and merging."""

FORMS = ("auto", "lines", "lines-from-1", "kaldi", "trn", "json", "icefall", "fairseq", "stm", "sgm")  # of references
