"""Sources, references and outputs of systems: read by id in the role that they are given in, and paired."""

FORMS = ("auto", "lines", "lines-from-1", "kaldi", "trn", "json", "icefall", "fairseq", "stm", "sgm")
ReferenceForm = str  # one of FORMS; `json` perhaps with the keys of its records, as in `json,key=ref,id_key=uid`
