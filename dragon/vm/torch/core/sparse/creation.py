"""`zeros_like` and its kin of sparse tensors, and the functions of a size in a sparse layout."""
from dragon.vm.torch.core import layout as layouts
from dragon.vm.torch.core.functions.creation import LIKE, default_dtype, shape_of
from dragon.vm.torch.core.register import FUNCTIONS
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.sparse.making import empty_of, sparse_coo_tensor
from dragon.vm.torch.core.sparse.parts import (BLOCKS, ENGINE_RULES, is_coordinates, is_sparse, layout_of, name_of,
                                               rule, values_of, with_values)
from dragon.vm.torch.core.tensor import Tensor, ops


def like(name):
    """Register a function such as `zeros_like` of sparse tensors."""
    operator = getattr(ops, name)

    def create(input, *value, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False,
               memory_format=None, **named_values):
        dtype, device = dtype or input.dtype, input.device if device is None else device
        if layout is layouts.strided:
            made = getattr(ops, name.removesuffix("_like"))(tuple(input.shape), *value, dtype=dtype, device=device,
                                                            **named_values)
            return made.requires_grad_() if requires_grad else made
        wanted = layout_of(input) if layout is None else layout
        if name in ("zeros_like", "empty_like") and name_of(input) not in BLOCKS:
            return empty_of(name, input.shape, wanted, dtype, device, requires_grad)
        if is_coordinates(input) or wanted is not layout_of(input):
            raise NotImplementedError(f"{name}: got layout={wanted!r}, expected torch.strided, or a compressed layout "
                                      "of the tensor's own")
        made = with_values(input.detach(), operator(values_of(input).detach(), *value, dtype=dtype, device=device,
                                                    **named_values))
        return made.requires_grad_() if requires_grad else made
    rule(name)(named(create, name, f"Return `{name}` of a sparse tensor."))


for _name in LIKE:
    like(_name)


def new(name):
    """Register a method such as `new_zeros` of sparse tensors."""
    def create(self, *sizes, size=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
        size = shape_of(sizes) if size is None else size
        return empty_of(name, size, layout_of(self) if layout is None else layout, dtype or self.dtype,
                        self.device if device is None else device, requires_grad)
    rule(name)(named(create, name, f"Return `{name.removeprefix('new_')}` of a shape in this tensor's layout."))


for _name in ("new_zeros", "new_empty"):
    new(_name)


@rule("new_tensor")
def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """Return a strided copy of data with this tensor's dtype and device."""
    return FUNCTIONS["tensor"](data, dtype=dtype or self.dtype, device=self.device if device is None else device,
                               requires_grad=requires_grad)


@rule("new")
def new_of(self, *args, device=None):
    """Return a tensor of coordinates from sizes, or indices, values and perhaps a size."""
    return construct(self.dtype, args)


def construct(dtype, args):
    """Return a tensor of coordinates as the old constructors do."""
    if args and isinstance(args[0], Tensor):
        if len(args) == 1 and is_sparse(args[0]):
            return args[0].detach()
        return sparse_coo_tensor(*args, dtype=dtype)
    size = shape_of(args) if args else (0,)
    return empty_of("new", tuple(size), layouts.sparse_coo, dtype or default_dtype(), None)


ENGINE_RULES.update(zeros_like=lambda x, **_: empty_of("zeros_like", x.shape, layout_of(x), x.dtype, x.device))
