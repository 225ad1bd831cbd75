"""Batches in pieces, and what comes out of the pieces as one again."""
import operator

from dragon.vm import torch
from dragon.vm.torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

DEFAULT_CHUNK_DIM = 0


class _CustomReducer:
    """How values of pieces become one: by a function, from a first value on.

    Parameters
    ----------
    init_value : Any
        The first value.
    reduce_fn : Callable
        The function of two values.

    """

    def __init__(self, init_value, reduce_fn):
        self.init_value, self.reduce_fn = init_value, reduce_fn


class _LossReducer(_CustomReducer):
    """How losses of pieces become one."""


sum_reducer = _LossReducer(torch.tensor(0.0), operator.add)


class TensorChunkSpec:
    """The axis along which a tensor is cut.

    Parameters
    ----------
    split_dim : int
        The axis.

    """

    def __init__(self, split_dim):
        self.split_dim = split_dim

    def __repr__(self):
        return f"{type(self).__module__}.{type(self).__name__}({self.split_dim})"

    def __str__(self):
        return f"TensorChunkSpec({self.split_dim})"

    @staticmethod
    def from_tuple(chunk_dims):
        """Return the specs of positional arguments, of their axes."""
        return tree_map(TensorChunkSpec, chunk_dims)

    @staticmethod
    def from_dict(chunk_dims):
        """Return the specs of named arguments, of their axes."""
        return tree_map(TensorChunkSpec, chunk_dims)


class _Replicate:
    """All pieces get the whole."""


def _is_replicated(spec):
    return spec is _Replicate or isinstance(spec, _Replicate)


def _split_tensor(tensor, spec, num_chunks):
    """Return the pieces of a tensor."""
    if tensor.size(spec.split_dim) < num_chunks:
        raise AssertionError(f"Tensor size {tensor.size(spec.split_dim)} is smaller than num_chunks: got {num_chunks}")
    pieces = torch.tensor_split(tensor, num_chunks, spec.split_dim)
    if tensor.requires_grad and tensor.is_leaf:
        for piece in pieces:
            piece.retain_grad()
    return pieces


def _most_pieces(value, spec):
    """Return how many pieces can be made of a value at most; None for any number."""
    if _is_replicated(spec):
        return None
    if not isinstance(value, torch.Tensor):
        raise ValueError(f"Unsupported chunk spec: {spec} and value: {value} combination.")
    if not isinstance(spec, TensorChunkSpec):
        raise AssertionError(f"Expected TensorChunkSpec, got {type(spec)}")
    return value.size(spec.split_dim)


def _default_spec(value):
    return TensorChunkSpec(DEFAULT_CHUNK_DIM) if isinstance(value, torch.Tensor) else _Replicate()


def split_args_kwargs_into_chunks(args, kwargs, chunks, args_chunk_spec=None, kwargs_chunk_spec=None):
    """Return the positional and the named arguments of each piece of a batch.

    Parameters
    ----------
    args : Tuple
        The positional arguments of the batch.
    kwargs : Dict[str, Any], optional
        The named ones.
    chunks : int
        How many pieces; fewer if a tensor is shorter.
    args_chunk_spec : Tuple[TensorChunkSpec, ...], optional
        How each is cut: tensors along their first axis by default, while all pieces get what is no tensor.
    kwargs_chunk_spec : Dict[str, TensorChunkSpec], optional
        The same of the named ones.

    Returns
    -------
    Tuple[List[Tuple], List[Dict]]
        Both.

    """
    kwargs = kwargs or {}
    given = (tuple(args), dict(kwargs))
    specs = (tree_map(_default_spec, given[0]) if args_chunk_spec is None else tuple(args_chunk_spec),
             tree_map(_default_spec, given[1]) if kwargs_chunk_spec is None else dict(kwargs_chunk_spec))
    # Processes without the first stage have the same specs, and no arguments for them.
    specs = tuple(wanted if values else type(values)() for values, wanted in zip(given, specs))
    for values, wanted in zip(given, specs):
        if len(values) != len(wanted):
            raise AssertionError(f"got {len(values)} arguments and {len(wanted)} chunk specs ({wanted}), expected one "
                                 "for each")
    specs = specs[0], {key: specs[1][key] for key in given[1]}
    values, tree = tree_flatten(given)
    flat_specs, _ = tree_flatten(specs)
    if len(values) != len(flat_specs):
        raise AssertionError(f"got {len(flat_specs)} chunk specs, expected {len(values)}, one for each value")
    possible = [most for most in map(_most_pieces, values, flat_specs) if most is not None]
    count = min([chunks, *possible])
    pieces = [[value] * count if _is_replicated(spec) else _split_tensor(value, spec, count)
              for value, spec in zip(values, flat_specs)]
    made = [tree_unflatten([piece[number] for piece in pieces], tree) for number in range(count)]
    return [args for args, _ in made], [kwargs for _, kwargs in made]


def merge_chunks(chunks, chunk_spec=None):
    """Return one value of those of the pieces.

    Parameters
    ----------
    chunks : List[Any]
        The values.
    chunk_spec : Any, optional
        How each part becomes one: a `TensorChunkSpec`, a reducer, or None for what is the same in all pieces; along
        the first axis by default.

    Returns
    -------
    Any
        The value.

    """
    flat = [tree_flatten(chunk) for chunk in chunks]
    if chunk_spec is None:
        tree, specs = flat[0][1], [TensorChunkSpec(DEFAULT_CHUNK_DIM)] * len(flat[0][0])
    else:
        specs, tree = tree_flatten(chunk_spec)
    for chunk, (values, _) in zip(chunks, flat):
        if len(values) != len(specs):
            raise ValueError(f"Chunk {chunk} did not match chunk spec {chunk_spec}")
    return tree_unflatten([_merge([values[place] for values, _ in flat], spec) for place, spec in enumerate(specs)],
                          tree)


def _merge(values, spec):
    if isinstance(spec, TensorChunkSpec):
        return torch.cat(values, spec.split_dim)
    if isinstance(spec, _CustomReducer):
        found = spec.init_value
        for value in values:
            found = spec.reduce_fn(found, value)
        return found
    if any(type(value) is not type(values[0]) or not isinstance(value, torch.Tensor) and value != values[0]
           for value in values):
        raise AssertionError(f"got {values} of the pieces and no chunk spec, expected the same of all")
    return values[0]
