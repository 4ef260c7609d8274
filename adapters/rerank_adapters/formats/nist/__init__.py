"""NIST's formats of transcripts, with the rules of NIST's sclite (SCTK 2.4.10).

`markup` has the alternatives and the optional words of a transcript, `stm` reads transcripts with times, and `timed`
matches their segments by ids.
"""
