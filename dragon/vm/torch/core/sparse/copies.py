"""The parts of compressed tensors as new memory, and old names of what sparse matrices do."""
from dragon.vm.torch.core.functions.destination import deliver
from dragon.vm.torch.core.register import alias, both, function
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.sparse.conversions import resize_as_
from dragon.vm.torch.core.sparse.parts import RULES, is_coordinates, is_sparse, layout_of, rule
from dragon.vm.torch.core.tensor import Tensor, ops


def _copying(part):
    """Register `<part>_copy`."""
    def copy(input, *, out=None):
        if is_sparse(input) and is_coordinates(input):  # PyTorch has no such kernel either
            raise NotImplementedError(f"{part}_copy: got a tensor of layout torch.sparse_coo, expected a compressed "
                                      f"one: x.{part}().clone() copies")
        return deliver(ops.clone(getattr(Tensor, part)(input)), out)
    named(copy, part + "_copy", f"Return as new memory what `{part}` returns.")
    function(rule(part + "_copy")(copy))


@both
@rule("resize_as_sparse_")
def resize_as_sparse_(input, the_template):
    """Become a sparse tensor of another one's shape, without values; itself if it has that shape."""
    for x in (input, the_template):
        if not is_sparse(x):
            raise RuntimeError(f"resize_as_sparse_: got a tensor of layout {layout_of(x)!r}, expected a sparse one")
    return resize_as_(input, the_template)


def register():
    """Register the copies, and the old name, when what they are made of is there."""
    for part in ("indices", "values", "crow_indices", "col_indices", "ccol_indices", "row_indices"):
        _copying(part)
    RULES["saddmm"] = RULES["sspaddmm"]
    alias("sspaddmm", "saddmm")
