"""What is computed with tensors and batches: calls, Python's operators, and subscripts."""
from dragon.core.python_operators import ARITHMETIC, BITWISE, COMPARISONS
from dragon.vm.dali.core.atonce import Given, run_at_once
from dragon.vm.dali.core.dynamic.values import Batch, Operand, Tensor
from dragon.vm.dali.core.graph import arithmetic, call, subscript
from dragon.vm.dali.core.refusals import got


def given(value, size):
    """Return an operand as what a call takes: a batch, or a tensor that each sample has."""
    if isinstance(value, Batch):
        return Given(value.arrays, value._layout)
    if isinstance(value, Tensor):
        return Given([value.array] * (size or 1), value._layout)
    return value


def run(make, inputs, arguments, size=None, seed=None, who="dali"):
    """Return what a call makes of tensors and batches: batches, if there is one among them or a size is told.

    Parameters
    ----------
    make : Callable
        Takes handles, and returns handles.
    inputs, arguments : Sequence, Dict[str, Any]
        What it is called with.
    size : int, optional
        How many samples there are.
    seed : int, optional
        Where random numbers start from.
    who : str, optional
        Who speaks.

    """
    sizes = {value.batch_size for value in (*inputs, *arguments.values()) if isinstance(value, Batch)}
    if len(sizes | ({size} if size else set())) > 1:
        raise ValueError(got(who, f"batches of {sorted(sizes | ({size} if size else set()))} samples", "equally many"))
    size = sizes.pop() if sizes else size
    made = run_at_once(make, [given(one, size) for one in inputs], {key: given(value, size) for key, value
                                                                    in arguments.items()}, size, seed, who)
    results = tuple(Tensor(arrays[0], layout=layout) if size is None else Batch(
        arrays, layout=layout, dtype=None if arrays else "i32") for arrays, layout in made)
    return results if len(results) > 1 else results[0]


def compute(operation, *operands):
    """Return an operation by elements."""
    plain = (bool, int, float)
    operands = [one if isinstance(one, (*plain, Operand)) else Tensor(one) for one in operands]
    return run(lambda *handles: arithmetic(operation, *handles), operands, {}, who=f"math.{operation}")


def taken(value, key):
    """Return parts of a tensor, or of each sample of a batch."""
    keys = key if isinstance(key, tuple) else (key,)
    if all(isinstance(one, slice) and one == slice(None) for one in keys) or not keys:
        return value
    parts = [one for each in keys for one in ((each.start, each.stop, each.step) if isinstance(each, slice)
                                              else (each,)) if isinstance(one, Operand)]

    def take(data, *handles):
        left = iter(handles)

        def put(one):
            return next(left) if isinstance(one, Operand) else one
        told = tuple(slice(put(each.start), put(each.stop), put(each.step)) if isinstance(each, slice) else put(each)
                     for each in keys)
        inputs, options = subscript(told, data)
        return call("_subscript", inputs, options)
    return run(take, [value, *parts], {}, who="Tensor[...]")


class Within:
    """Takes subscripts within each sample of a batch."""

    def __init__(self, batch):
        self._batch = batch

    def __getitem__(self, key):
        return taken(self._batch, key)


def _binary(name, swapped=False):
    def method(self, other):
        return compute(name, other, self) if swapped else compute(name, self, other)
    return method


def _unary(name):
    return lambda self: compute(name, self)


for _name in (*ARITHMETIC, *BITWISE):
    setattr(Operand, f"__{_name}__", _binary(_name))
    setattr(Operand, f"__r{_name}__", _binary(_name, swapped=True))
for _name in COMPARISONS:
    setattr(Operand, f"__{_name}__", _binary(_name))
for _name, _operation in {"neg": "minus", "pos": "plus", "invert": "invert", "abs": "abs"}.items():
    setattr(Operand, f"__{_name}__", _unary(_operation))
Operand.__hash__ = None
Tensor.__getitem__ = taken
Batch.slice = property(Within, doc="Takes subscripts within each sample.")
