"""`torch.export.decomp_utils`: which operators `run_decompositions` replaces."""
from dragon.vm.torch._ops import OpOverload
from dragon.vm.torch.core.exporting.decompositions import default_table


class CustomDecompTable(dict):
    """What operators are made of, to be changed: `run_decompositions(table)`.

    Examples
    --------
    >>> table = torch.export.default_decompositions()
    >>> torch.ops.aten.linear.default in table
    True
    >>> del table[torch.ops.aten.linear.default]  # which stays then

    """

    def __init__(self):
        super().__init__(default_table())

    def __delitem__(self, key):
        if key in self or not isinstance(key, OpOverload):
            super().__delitem__(key)  # of an operator that is made of nothing else there is nothing to take away

    def pop(self, key, *default):
        """Return what an operator is made of, and have it stay; the operator itself where it is made of nothing else.

        Parameters
        ----------
        key : OpOverload
            The operator.
        default : Any, optional
            What is returned where it is no key.

        Returns
        -------
        Callable
            A function of its arguments.

        """
        return super().pop(key, *(default or ([key] if isinstance(key, OpOverload) else [])))

    def copy(self):
        """Return another table with the same entries."""
        made = CustomDecompTable()
        made.clear()
        made.update(self)
        return made

    __copy__ = copy

    def materialize(self):
        """Return the table as a plain dictionary."""
        return dict(self)
