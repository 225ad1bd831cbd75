"""`model.summary()`: a table of layers."""
import math


def count_params(weights):
    """Return how many numbers variables have."""
    return int(sum(math.prod(tuple(weight.shape)) for weight in weights))
