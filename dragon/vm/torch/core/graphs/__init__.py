"""The workshop of `torch.fx`: names of what is called, words of generated code, and tracers."""
