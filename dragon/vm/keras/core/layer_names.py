"""The names of layers among themselves, as files of weights have them: by their classes, and numbered."""
import collections

from dragon.vm.keras.core.naming import to_snake_case


def local_names(layers):
    """Return layers by their classes' names, with numbers behind them from the second one on."""
    counts, names = collections.Counter(), {}
    for layer in layers:
        name = to_snake_case(type(layer).__name__)
        names[f"{name}_{counts[name]}" if counts[name] else name] = layer
        counts[name] += 1
    return names
