"""`tf.config.optimizer`: graphs are always optimised."""

_options = {}


def get_jit():
    """Return how graphs are compiled: "" for the engine's own way."""
    return ""


def set_jit(enabled):
    """Accept any choice: graphs are compiled the engine's own way."""


def get_experimental_options():
    """Return the options that were set."""
    return dict(_options)


def set_experimental_options(options):
    """Keep options, which change nothing: the engine's passes are switched by `dragon.graph`."""
    _options.update(options)
