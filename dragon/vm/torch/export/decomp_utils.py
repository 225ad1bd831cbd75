"""`torch.export.decomp_utils`: which operators `run_decompositions` replaces."""
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
