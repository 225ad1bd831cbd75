"""Counts of floating-point operations: a counter that has counted nothing, as long as nothing can be counted."""


class FlopCounterMode:
    """A counter of operations within a `with` block.

    Libraries make one at the start in case that somebody asks; Dragon cannot count yet and says so when it should.
    """

    def __init__(self, mods=None, depth=2, display=True, custom_mapping=None):
        self.depth, self.display = depth, display

    def __enter__(self):
        raise NotImplementedError("torch.utils.flop_counter.FlopCounterMode: Dragon does not count operations (yet)")

    def __exit__(self, *_):
        pass

    def get_total_flops(self):
        """Return 0: nothing has been counted."""
        return 0

    def get_flop_counts(self):
        """Return no counts: nothing has been counted."""
        return {}
