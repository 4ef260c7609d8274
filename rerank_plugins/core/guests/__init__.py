"""Guests are the classes of other people's plugins: code of the project trusts nothing that they return or print.

`calls` wraps the methods of a guest when its class is defined, in every process. A wrapped method writes to stderr what
it would write to stdout (`stdout`), its errors name the plugin (`names`), and the values that it returns are checked
(`contracts` says which method has which check). Classes of the project have no wrappers; its tests check them.
"""
