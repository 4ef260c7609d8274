"""NIST's formats of transcripts, with the rules of NIST's sclite (SCTK 2.4.10).

`markup` has the alternatives and the optional words of a transcript, `stm` and `ctm` read the two formats with times,
and `timed` matches transcripts with segments: by their ids, and the words of a CTM by their times.
"""
