"""`tf.autograph`: nothing is rewritten; Python's own control flow is followed."""


def set_verbosity(level, alsologtostdout=False):
    """Accept a level: there is nothing to be told."""


def trace(*args):
    """Print values while a function is traced."""
    print(*args)


def to_graph(entity, recursive=True, experimental_optional_features=None):
    """Return the function itself: it needs no rewriting."""
    return entity


def to_code(entity, recursive=True, experimental_optional_features=None):
    """Return a function's source, which is what runs."""
    import inspect
    return inspect.getsource(getattr(entity, "python_function", entity))
