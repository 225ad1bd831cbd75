"""The libraries behind operators, and their switches: `torch.backends`."""

fp32_precision = "none"


def flags_frozen():
    """Return False: switches can be set at any time."""
    return False


def disable_global_flags():
    """Do nothing: Dragon's switches are never frozen."""
