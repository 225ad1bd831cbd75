"""Dialects: what operators are called, and how their arguments map, in the terms of PyTorch and of other formats.

A dialect is a table of rows, `operator = expression`; `rows` reads them. Whoever needs to know what an operator of a
dialect is asks the table: there is no second list of names.
"""
