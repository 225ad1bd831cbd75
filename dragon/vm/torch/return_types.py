"""`torch.return_types`: the named tuples that functions with several results return."""
from dragon.vm.torch.core.results import CLASSES, OUT_CLASSES

globals().update(CLASSES)
globals().update(OUT_CLASSES)
all_return_types = [*CLASSES.values(), *OUT_CLASSES.values()]


def pytree_register_structseq(cls):
    """Have structures go through a class of named results."""
    from dragon.vm.torch.utils._pytree import register_pytree_node
    register_pytree_node(cls, lambda result: (list(result), None), lambda values, _: cls(values))
