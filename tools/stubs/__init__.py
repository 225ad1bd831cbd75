"""What writes the stubs of Dragon's doors for editors and type checkers: asked by `tools/make_stubs.py`."""
