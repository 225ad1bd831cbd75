"""Tensors of random shapes, strides and dtypes for benchmarks: drawn as PyTorch draws them, seed for seed."""
import math

from dragon.vm import torch

_MOST_TRIES = 1000
_SEEDS = 2 ** 63


class FuzzedParameter:
    """A number, or a choice, that is drawn for each case.

    Parameters
    ----------
    name : str
        By which tensors and constraints speak of it.
    minval, maxval : float, optional
        The bounds, both of them drawn too; of integers, integers are drawn.
    distribution : Union[str, dict]
        "uniform", "loguniform", or choices with their probabilities.
    strict : bool, optional, default=False
        Whether it is drawn once for a case, even if the other parameters do not fit it at first.

    """

    def __init__(self, name, minval=None, maxval=None, distribution=None, strict=False):
        if not isinstance(distribution, dict) and distribution not in ("loguniform", "uniform"):
            raise AssertionError(f"Unknown distribution: got {distribution!r}, expected 'loguniform', 'uniform' or a "
                                 "dict of choices")
        if isinstance(distribution, dict):
            if any(chance < 0 for chance in distribution.values()):
                raise AssertionError("Probabilities cannot be negative")
            if minval is not None or maxval is not None:
                raise AssertionError("When passing a custom distribution, 'minval' and 'maxval' must be None")
        self.name, self.strict = name, strict
        self._low, self._high, self._distribution = minval, maxval, distribution

    def sample(self, state):
        """Return a value, drawn from a `numpy.random.RandomState`."""
        if isinstance(self._distribution, dict):
            return list(self._distribution)[state.choice(range(len(self._distribution)),
                                                         p=tuple(self._distribution.values()))]
        if self._distribution == "loguniform":
            drawn = int(2 ** state.uniform(low=math.log2(self._low), high=math.log2(self._high)))
            return min(max(drawn, self._low), self._high)
        if isinstance(self._low, int) and isinstance(self._high, int):
            return int(state.randint(low=self._low, high=self._high + 1))
        return state.uniform(low=self._low, high=self._high)


class ParameterAlias:
    """A choice that stands for another parameter's value.

    Parameters
    ----------
    alias_to : str
        The other parameter.

    """

    def __init__(self, alias_to):
        self.alias_to = alias_to

    def __repr__(self):
        return f"ParameterAlias[alias_to: {self.alias_to}]"


class FuzzedTensor:
    """A tensor that is made for each case.

    Parameters
    ----------
    name : str
        Its name among the tensors of a case.
    size : Sequence[Union[str, int]]
        Its sizes, as numbers or by the names of parameters.
    steps : Sequence[Union[str, int]], optional
        Steps along the axes of a larger tensor, which this one is cut from.
    probability_contiguous : float, optional, default=0.5
        How often axes lie in memory in their order.
    min_elements, max_elements, max_allocation_bytes : int, optional
        Cases that have less, or more, are drawn again.
    dim_parameter : str, optional
        The parameter that tells how many of the axes there are.
    roll_parameter : str, optional
        Accepted, as PyTorch does, which does nothing with it.
    dtype : dtype, optional, default=torch.float32
        The dtype.
    cuda : bool, optional, default=False
        Whether it is on a CUDA device.
    tensor_constructor : Callable, optional
        Makes the numbers, given `size`, `dtype` and the parameters by name.

    """

    def __init__(self, name, size, steps=None, probability_contiguous=0.5, min_elements=None, max_elements=None,
                 max_allocation_bytes=None, dim_parameter=None, roll_parameter=None, dtype=torch.float32, cuda=False,
                 tensor_constructor=None):
        self.name, self._size, self._steps = name, size, steps or ()
        self._probability_contiguous, self._dim_parameter = probability_contiguous, dim_parameter
        self._fewest, self._most, self._most_bytes = min_elements, max_elements, max_allocation_bytes
        self._dtype, self._cuda = dtype, cuda
        self._construct = tensor_constructor or self.default_tensor_constructor

    @staticmethod
    def default_tensor_constructor(size, dtype, **kwargs):
        """Return numbers below 1, or integers from 1 to 126."""
        if dtype.is_floating_point or dtype.is_complex:
            return torch.rand(size, dtype=dtype)
        return torch.randint(1, 127, size, dtype=dtype)

    def _get_size_and_steps(self, params):
        """Return the sizes, the steps, and the sizes of the tensor that is cut."""
        dim = len(self._size) if self._dim_parameter is None else params[self._dim_parameter]

        def resolve(values):
            found = tuple(params.get(value, value) for value in values)[:dim]
            return found + (1,) * (dim - len(found))
        size, steps = resolve(self._size), resolve(self._steps)
        return size, steps, tuple(length * step for length, step in zip(size, steps))

    def satisfies_constraints(self, params):
        """Return whether a case keeps to the bounds."""
        size, _, whole = self._get_size_and_steps(params)
        count, nbytes = math.prod(map(int, size)), math.prod(map(int, whole)) * self._dtype.itemsize
        if count < 0:
            raise AssertionError("Computed number of elements is negative")
        return not (self._most is not None and count > self._most or self._fewest is not None and self._fewest > count
                    or self._most_bytes is not None and nbytes > self._most_bytes)

    def _make_tensor(self, params, state):
        """Return the tensor of a case, and what it is."""
        size, steps, whole = self._get_size_and_steps(params)
        made = self._construct(size=whole, dtype=self._dtype, **params)
        made = made.cuda() if self._cuda else made
        order = plain = list(range(len(size)))
        if state.rand() > self._probability_contiguous:
            while len(size) > 1 and order == plain:
                order = state.permutation(made.dim()).tolist()
            back = sorted(plain, key=lambda axis: order[axis])
            made = made.permute(order).contiguous().permute(back)
        tensor = made[tuple(slice(0, length * step, step) for length, step in zip(size, steps))]
        return tensor, {"numel": tensor.numel(), "order": order, "steps": steps, "dtype": str(self._dtype),
                        "is_contiguous": tensor.is_contiguous()}


class FuzzedSparseTensor(FuzzedTensor):
    """A sparse tensor that is made for each case, of which parameters tell `density`, `coalesced` and `sparse_dim`.

    Parameters
    ----------
    name, size, min_elements, max_elements, dim_parameter, dtype, cuda
        As for `FuzzedTensor`.
    sparse_dim, nnz, density, coalesced : str, optional
        Names for these parameters; the number of sparse axes is asked of a parameter only where one is named.

    """

    def __init__(self, name, size, min_elements=None, max_elements=None, dim_parameter=None, sparse_dim=None, nnz=None,
                 density=None, coalesced=None, dtype=torch.float32, cuda=False):
        super().__init__(name, size, min_elements=min_elements, max_elements=max_elements,
                         dim_parameter=dim_parameter, dtype=dtype, cuda=cuda)
        self._sparse_dim = sparse_dim

    @staticmethod
    def sparse_tensor_constructor(size, dtype, sparse_dim, nnz, is_coalesced):
        """Return a sparse tensor with so many values; twice as many, at the same places, unless it is coalesced."""
        size = [size] * sparse_dim if isinstance(size, int) else list(size)
        if all(length <= 0 for length in size[:sparse_dim]) and nnz:
            raise AssertionError(f"invalid arguments: got sizes {size} and {nnz} values, expected places for them")
        values = FuzzedTensor.default_tensor_constructor([nnz, *size[sparse_dim:]], dtype)
        places = torch.rand(sparse_dim, nnz)
        places = places.mul_(torch.tensor(size[:sparse_dim]).unsqueeze(1).to(places)).long()
        if not is_coalesced:
            values, places = torch.cat([values, torch.randn_like(values)], 0), torch.cat([places, places], 1)
        made = torch.sparse_coo_tensor(places, values, torch.Size(size))
        return made.coalesce() if is_coalesced else made

    def _make_tensor(self, params, state):
        """Return the tensor of a case, and what it is."""
        size, density = self._get_size_and_steps(params)[0], params["density"]
        nnz = math.ceil(sum(size) * density)
        if nnz > sum(size):
            raise AssertionError("nnz cannot exceed total number of elements")
        sparse_dim = min(params["sparse_dim"] if self._sparse_dim else len(size), len(size))
        tensor = self.sparse_tensor_constructor(size, self._dtype, sparse_dim, nnz, params["coalesced"])
        tensor = tensor.cuda() if self._cuda else tensor
        return tensor, {"numel": tensor.numel(), "shape": tensor.size(), "is_coalesced": tensor.is_coalesced(),
                        "density": density, "sparsity": 1.0 - density, "sparse_dim": tensor.sparse_dim(),
                        "dense_dim": tensor.dense_dim(), "is_hybrid": len(size) > sparse_dim,
                        "dtype": str(self._dtype)}


class Fuzzer:
    """Cases for a benchmark: parameters, and the tensors that they tell.

    Parameters
    ----------
    parameters : Sequence[Union[FuzzedParameter, Sequence[FuzzedParameter]]]
        The parameters.
    tensors : Sequence[Union[FuzzedTensor, Sequence[FuzzedTensor]]]
        The tensors.
    constraints : Sequence[Callable], optional
        Given the parameters, each returns whether they are to be used.
    seed : int, optional
        Equal seeds give equal cases.

    """

    def __init__(self, parameters, tensors, constraints=None, seed=None):
        import numpy
        self._seed = int(numpy.random.RandomState().randint(0, 2 ** 32 - 1, dtype="int64")) if seed is None else seed
        self._parameters, self._tensors = _flatten(parameters), _flatten(tensors)
        self._constraints = constraints or ()
        self._rejections = self._total_generated = 0
        common = {each.name for each in self._parameters} & {each.name for each in self._tensors}
        if common:
            raise ValueError(f"Duplicate names in parameters and tensors: {common}")

    rejection_rate = property(lambda self: self._rejections / self._total_generated if self._total_generated else 0.0,
                              doc="float: how many of the cases that were drawn did not fit.")

    def take(self, n):
        """Yield so many cases: tensors, what they are, and parameters, each by name."""
        import numpy
        state = numpy.random.RandomState(self._seed)
        torch.manual_seed(int(state.randint(low=0, high=_SEEDS, dtype="int64")))
        for _ in range(n):
            params = self._generate(state)
            made = {each.name: each._make_tensor(params, state) for each in self._tensors}
            yield ({name: tensor for name, (tensor, _) in made.items()},
                   {name: told for name, (_, told) in made.items()}, params)

    def _generate(self, state):
        kept = {}
        for _ in range(_MOST_TRIES):
            drawn = {}
            for each in self._parameters:
                drawn[each.name] = kept[each.name] if each.name in kept else each.sample(state)
                if each.strict:
                    kept[each.name] = drawn[each.name]
            drawn = _resolve(drawn)
            self._total_generated += 1
            if all(holds(drawn) for holds in self._constraints) and all(
                    each.satisfies_constraints(drawn) for each in self._tensors):
                return drawn
            self._rejections += 1
        raise ValueError(f"Failed to generate a set of valid parameters: got none in {_MOST_TRIES} tries")


def _flatten(values):
    """Return specifications in one list; some may be in lists of their own."""
    return tuple(item for value in values for item in (value if isinstance(value, (list, tuple)) else (value,)))


def _resolve(params):
    """Return parameters with the values that aliases stand for."""
    found = dict(params)
    for name in params:
        seen = set()
        while isinstance(found[name], ParameterAlias):
            if found[name].alias_to in seen:
                raise ValueError(f"ParameterAlias cycle detected: {params}")
            seen.add(found[name].alias_to)
            found[name] = found[found[name].alias_to]
    return found
