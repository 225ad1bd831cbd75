"""The workshop of the pipeline: what operators are, graphs of them, and what runs these."""
