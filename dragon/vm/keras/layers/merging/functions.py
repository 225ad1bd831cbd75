"""The layers that merge, as functions."""
from dragon.vm.keras.layers.merging import elementwise
from dragon.vm.keras.layers.merging.concatenate import Concatenate
from dragon.vm.keras.layers.merging.dot import Dot


def add(inputs, **kwargs):
    """Add tensors; see `Add`."""
    return elementwise.Add(**kwargs)(inputs)


def average(inputs, **kwargs):
    """Take the mean of tensors; see `Average`."""
    return elementwise.Average(**kwargs)(inputs)


def maximum(inputs, **kwargs):
    """Take the larger elements; see `Maximum`."""
    return elementwise.Maximum(**kwargs)(inputs)


def minimum(inputs, **kwargs):
    """Take the smaller elements; see `Minimum`."""
    return elementwise.Minimum(**kwargs)(inputs)


def multiply(inputs, **kwargs):
    """Multiply tensors; see `Multiply`."""
    return elementwise.Multiply(**kwargs)(inputs)


def subtract(inputs, **kwargs):
    """Subtract the second of two tensors from the first; see `Subtract`."""
    return elementwise.Subtract(**kwargs)(inputs)


def concatenate(inputs, axis=-1, **kwargs):
    """Put tensors one after the other along an axis; see `Concatenate`."""
    return Concatenate(axis=axis, **kwargs)(inputs)


def dot(inputs, axes=-1, **kwargs):
    """Sum the products of two tensors along an axis of each; see `Dot`."""
    return Dot(axes=axes, **kwargs)(inputs)
