"""Changes of samples: the second of the three nouns of `dragon.io`."""
import inspect


def takes_draws(function):
    """Return whether a function of a sample also takes the sample's random numbers, in a parameter `draws`."""
    try:
        return "draws" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False  # of a builtin nobody knows the parameters


class Transformer:
    """Apply functions to one sample, one after another; it runs in worker processes.

    A class of one's own overrides `__call__`, or `batch` too where many samples at once cost less than one by one.

    Parameters
    ----------
    functions : Callable
        Each takes a sample and returns one. One that has a parameter `draws` gets the sample's `Draws` as well: random
        numbers that are the same for the same seed, epoch and sample, whatever worker draws them.

    """

    batch = None  # (samples, draws of each, allocate) -> a batch, in place of a call for each sample and of stacking

    def __init__(self, *functions):
        self.functions = functions
        self._random = [takes_draws(function) for function in functions]

    def __call__(self, sample, draws=None):
        for function, random in zip(self.functions, self._random):
            sample = function(sample, draws=draws) if random else function(sample)
        return sample
