"""Mapping a function over the slices of its arguments.

It is called once, with stand-ins for the slices, while the engine's operators compute with whole batches; or, if it
does what has to be done for every slice by itself, for each of them, and the results are stacked.
"""
import functools

from dragon import _C
from dragon.core.capture.regions import apart
from dragon.core.interrupts import is_interrupt
from dragon.core.random import current_generator
from dragon.vm.torch.core.exporting.tracing_state import follows_sizes, fall_back_to_engine
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_unflatten


def get_name(func):
    """Return what to call a function in messages."""
    if hasattr(func, "__name__"):
        return func.__name__
    return f"functools.partial({get_name(func.func)}, ...)" if isinstance(func, functools.partial) else repr(func)


def vmap_impl(func, in_dims, out_dims, randomness, args, kwargs):
    """Return the results of a function for all slices."""
    sized = follows_sizes()  # which nobody can follow through a batch: slices are computed one by one
    if not sized:
        fall_back_to_engine()
    leaves, spec = tree_flatten(args)
    dims = _input_dims(func, in_dims, args, leaves, spec)
    count = _batch_size(dims, leaves)
    if count == 0:
        return _empty(func, out_dims, leaves, dims, spec, kwargs)
    quick = None if sized else _try_batched(func, leaves, dims, spec, count, kwargs)
    if quick is not None:
        batches, output_spec = quick
        places = _output_dims(func, out_dims, batches, output_spec)
        return tree_unflatten([ops.select(batch, 0, 0) if place is None else batch if place == 0
                               else ops.movedim(batch, 0, _stacked(place, batch.ndim - 1))
                               for batch, place in zip(batches, places)], output_spec)
    cut = [leaf if dim is None else ops.unbind(leaf, dim) for dim, leaf in zip(dims, leaves)]
    random = _Randomness(randomness)
    columns, output_spec = None, None
    for index in range(count):
        random.before_slice()
        slices = [item if dim is None else item[index] for dim, item in zip(dims, cut)]
        outputs, output_spec = tree_flatten(func(*tree_unflatten(slices, spec), **kwargs))
        random.after_slice()
        _check_outputs(func, outputs)
        columns = [[] for _ in outputs] if columns is None else columns
        for column, output in zip(columns, outputs):
            column.append(output)
    places = _output_dims(func, out_dims, columns, output_spec)
    return tree_unflatten([column[0] if place is None else ops.stack(column, _stacked(place, column[0].ndim))
                           for column, place in zip(columns, places)], output_spec)


def _try_batched(func, leaves, dims, spec, count, kwargs):
    """Return (outputs' batches with the mapped axis first, structure of the outputs) of one call for all slices.

    None if the function has to be called for every slice.
    """
    generator = current_generator()
    state = _C.Generator.get_whole_state(generator)
    structures = []

    def call(*given):
        outputs, structure = tree_flatten(func(*tree_unflatten(given, spec), **kwargs))
        structures.append(structure)
        return outputs

    try:
        batches = [leaf if not dim else ops.movedim(leaf, dim, 0) for dim, leaf in zip(dims, leaves)]
        with apart():
            outputs = _C.call_batched(call, batches, [dim is not None for dim in dims], count)
        drawn = _C.Generator.get_whole_state(generator) != state
        if drawn or any(_is_unfit(output, is_batch) for output, is_batch in outputs):
            raise NotImplementedError
        return [output if is_batch else ops.clone(ops.expand(output, (count, *output.shape)))
                for output, is_batch in outputs], structures[0]
    except Exception as error:  # whatever it was, the slow way meets it again if it is the function's own
        if is_interrupt(error):
            raise
        _C.Generator.set_whole_state(generator, state)
        return None


def _is_unfit(output, is_batch):
    """Return whether an output must be asked of the slices: it is no tensor, or derived from a slice unbeknownst."""
    return not isinstance(output, Tensor) or (not is_batch and output.device.type == "meta")


def _stacked(place, rank):
    """Return where a new axis goes, which may be counted from the end of the result."""
    if not -rank - 1 <= place <= rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank - 1}, {rank}], but got {place})")
    return place


def _empty(func, out_dims, leaves, dims, spec, kwargs):
    """Return results for a batch of none, whose form a slice of zeros tells."""
    slices = [leaf if dim is None else ops.zeros_like(ops.sum(leaf, dim), dtype=leaf.dtype)
              for dim, leaf in zip(dims, leaves)]
    outputs, output_spec = tree_flatten(func(*tree_unflatten(slices, spec), **kwargs))
    _check_outputs(func, outputs)
    places = _output_dims(func, out_dims, outputs, output_spec)
    return tree_unflatten([output if place is None else ops.narrow(ops.unsqueeze(output, place), place, 0, 0)
                           for output, place in zip(outputs, places)], output_spec)


class _Randomness:
    """The stream of random numbers, as far as slices may use it."""

    def __init__(self, mode):
        self.mode, self.generator = mode, current_generator()
        self.state = None if mode == "different" else _C.Generator.get_whole_state(self.generator)

    def before_slice(self):
        """Bring the stream to where every slice starts."""
        if self.mode == "same":
            _C.Generator.set_whole_state(self.generator, self.state)

    def after_slice(self):
        """Raise if random numbers were drawn that must not be."""
        if self.mode == "error" and _C.Generator.get_whole_state(self.generator) != self.state:
            raise RuntimeError("vmap: called random operation while in randomness error mode. Please either use the "
                               "'same' or 'different' randomness flags on vmap or perform the randomness operation "
                               "out of vmap")


def _input_dims(func, in_dims, args, leaves, spec):
    """Return the axis of every leaf, None for those that are not cut."""
    who = f"vmap({get_name(func)}, in_dims={in_dims}, ...)(<inputs>)"
    if not isinstance(in_dims, (int, list, tuple)):
        raise ValueError(f"{who}: expected `in_dims` to be int or a (potentially nested) tuple matching the structure "
                         f"of inputs, got: {type(in_dims)}.")
    if not args:
        raise ValueError(f"vmap({get_name(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are "
                         "trying to vmap over a function with no inputs. The latter is unsupported.")
    dims = _broadcast_to_and_flatten(in_dims, spec)
    if dims is None:
        raise ValueError(f"{who}: in_dims is not compatible with the structure of `inputs`. in_dims has structure "
                         f"{tree_flatten(in_dims)[1]} but inputs has structure {spec}.")
    for dim, leaf in zip(dims, leaves):
        if dim is None:
            continue
        if not isinstance(dim, int):
            raise ValueError(f"{who}: Got in_dim={dim} for an input but in_dim must be either an integer dimension or "
                             "None.")
        if not isinstance(leaf, Tensor):
            raise ValueError(f"{who}: Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot "
                             "vmap over non-Tensor arguments, please use None as the respective in_dim")
        if not -leaf.ndim <= dim < leaf.ndim:
            raise ValueError(f"{who}: Got in_dim={dim} for some input, but that input is a Tensor of dimensionality "
                             f"{leaf.ndim} so expected in_dim to satisfy -{leaf.ndim} <= in_dim < {leaf.ndim}.")
    return dims


def _batch_size(dims, leaves):
    """Return how many slices there are."""
    sizes = [leaf.shape[dim] for dim, leaf in zip(dims, leaves) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError("vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
                         f"{sizes} for the mapped dimension")
    return sizes[0]


def _check_outputs(func, outputs):
    for output in outputs:
        if not isinstance(output, Tensor):
            name = get_name(func)
            raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(output)}. "
                             "Did you mean to set out_dims= to None for output?")


def _output_dims(func, out_dims, outputs, spec):
    """Return where the new axis of every output goes."""
    name = f"vmap({get_name(func)}, ..., out_dims={out_dims})"
    if spec.is_leaf() and isinstance(out_dims, tuple) and len(out_dims) == 1:
        out_dims = out_dims[0]  # of one tensor, the place may be in a tuple all the same
    dims = _broadcast_to_and_flatten(out_dims, spec)
    if dims is None:
        raise ValueError(f"{name}(<inputs>): out_dims is not compatible with the structure of `outputs`. out_dims has "
                         f"structure {tree_flatten(out_dims)[1]} but outputs has structure {spec}.")
    if any(dim is not None and not isinstance(dim, int) for dim in dims):
        raise ValueError(f"{name}: `out_dims` must be an int, None or a python collection of ints representing where "
                         "in the outputs the vmapped dimension should appear.")
    return dims
