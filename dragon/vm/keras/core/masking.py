"""Masks travel on the tensors themselves."""


def get_keras_mask(x):
    """Return the mask that a tensor carries, or None."""
    return getattr(x, "_keras_mask", None)


def set_keras_mask(x, mask):
    """Let a tensor carry a mask; None takes it away."""
    if mask is None:
        if hasattr(x, "_keras_mask"):
            del x._keras_mask
    else:
        x._keras_mask = mask
