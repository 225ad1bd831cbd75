"""Changes of samples: the second of the three nouns of `dragon.io`."""


class Transformer:
    """Apply functions to one sample, one after another; it runs in worker processes.

    Parameters
    ----------
    functions : Callable
        Each takes a sample and returns one.

    """

    def __init__(self, *functions):
        self.functions = functions

    def __call__(self, sample):
        for function in self.functions:
            sample = function(sample)
        return sample
