"""Traces as scripts: a call with the examples, written down call by call."""


def record(traced, as_constants=False):
    """Return the scripted module of what was traced."""
    raise NotImplementedError("torch.jit.save: got a trace, expected a name that ends with .dragon")
