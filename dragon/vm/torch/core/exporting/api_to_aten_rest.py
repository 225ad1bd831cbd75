"""What further functions of the API are in PyTorch's operators: those that the engine names or forms otherwise."""
from dragon.vm.torch.core.exporting.tracer import aten
from dragon.vm.torch.core.exporting.api_to_aten import rule, with_function
from dragon.vm.torch.core.tensor import Tensor


@rule()
def _local_response_norm(a, input, size, alpha=1e-4, beta=0.75, k=1.0):
    square = a.mul.Tensor(input, input)
    before, after = size // 2, (size - 1) // 2
    if input.ndim == 3:
        padded = a.pad.default(a.unsqueeze.default(square, 1), [0, 0, before, after])
        near = a.squeeze.dim(a.avg_pool2d.default(padded, [size, 1], [1]), 1)
    else:
        n, c, first, *rest = input.shape
        square = a.view.default(square, [n, 1, c, first, -1])
        padded = a.pad.default(square, [0, 0, 0, 0, before, after])
        near = a.squeeze.dim(a.avg_pool3d.default(padded, [size, 1, 1], [1]), 1)
        near = a.view.default(near, list(input.shape))
    return a.div.Tensor(input, a.pow.Tensor_Scalar(a.add.Tensor(a.mul.Tensor(near, alpha), k), beta))


@rule("take_along_axis", "take_along_dim")
def _take_along(a, input, indices, dim=None):
    return a.take_along_dim.default(input, indices, dim)


@rule()
def _tensordot(a, x, y, dims=2):
    if isinstance(dims, Tensor):
        raise NotImplementedError("torch.export: tensordot with dims in a tensor; expected a number or two lists")
    if isinstance(dims, int):
        dims = list(range(x.ndim - dims, x.ndim)), list(range(dims))
    return a.tensordot.default(x, y, *(list(part) if isinstance(part, (list, tuple)) else [part] for part in dims))


@rule()
def _cartesian_prod(a, *tensors):
    tensors = tensors[0] if tensors and isinstance(tensors[0], (list, tuple)) else tensors
    return a.cartesian_prod.default(list(tensors))


@with_function("tensor_split")
def _tensor_split(tracer, func, args, kwargs):
    """Tell a number of parts from places, which is one where both are called by their name."""
    given = dict(zip(("input", "places", "dim"), args))
    given.update({{"indices_or_sections": "places", "indices": "places", "sections": "places"}.get(name, name): value
                  for name, value in kwargs.items()})
    places, dim = given["places"], given.get("dim", 0)
    if isinstance(places, Tensor):
        raise NotImplementedError("torch.export: tensor_split at places in a tensor; expected a number or a list")
    if isinstance(places, (list, tuple)):
        return aten().tensor_split.indices(given["input"], list(places), dim)
    return aten().tensor_split.sections(given["input"], places, dim)
