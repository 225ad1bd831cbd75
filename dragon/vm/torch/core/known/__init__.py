"""The sentences by which PyTorch's users, and their libraries' tests, know an error: part of the engine's letters.

An engine's letter says who speaks, what came and what would do: `add: got shapes (2,) and (3,), expected shapes that
broadcast together`. Code that was written for PyTorch looks for other words. `rows` is the table of both, one line per
kind of letter; `worked_out` are those that have to be worked out; `dragon.core.sentences` puts them behind the letters.
"""
