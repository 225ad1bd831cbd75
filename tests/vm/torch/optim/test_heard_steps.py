"""Steps of optimizers beneath modes that hear operators: of PyTorch's operators, with the numbers as ever."""
import numpy
import pytest

from dragon.vm import torch as dt
from dragon.vm.torch.utils._python_dispatch import TorchDispatchMode
from harness.subresults import each

OPTIMIZERS = {
    "SGD": [{}, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}], "Adam": [{}, {"amsgrad": True}],
    "AdamW": [{}, {"maximize": True}], "RMSprop": [{}, {"centered": True, "momentum": 0.5}], "Adagrad": [{}],
    "Adadelta": [{}], "Adamax": [{}], "NAdam": [{}], "RAdam": [{}], "Rprop": [{}], "ASGD": [{}]}
CASES = [(name, options) for name, some in OPTIMIZERS.items() for options in some]


class Hear(TorchDispatchMode):
    """Note the operators."""

    names = ()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names += (str(func),)
        return func(*args, **(kwargs or {}))


def steps(name, options, heard):
    """Return the numbers after 7 steps, and what was heard; some steps of `heard` are beneath a mode."""
    weight = dt.nn.Parameter(dt.tensor([[1.0, -2.0, 0.5], [0.1, 3.0, -1.0]]))
    optimizer, names = getattr(dt.optim, name)([weight], lr=0.05, **options), ()
    for count in range(7):
        optimizer.zero_grad()
        (weight * weight.detach().sin()).sum().backward()
        if count in heard:
            with Hear() as mode:
                optimizer.step()
            names += mode.names
        else:
            optimizer.step()
    return weight.detach().numpy(), names


@each("name, options", CASES)
@each("heard", [range(7), (0, 2), (3, 4, 5)])
def test_same_numbers(name, options, heard):
    unheard, nothing = steps(name, options, ())
    made, names = steps(name, options, heard)
    numpy.testing.assert_allclose(made, unheard, rtol=2e-5, atol=1e-6)
    assert not nothing and len([one for one in names if one.startswith("aten.") and "_." in one]) >= len(heard)


def test_sparse_gradients_stay_with_the_engine():
    table = dt.nn.Embedding(4, 2, sparse=True)
    optimizer, before = dt.optim.SGD(table.parameters(), lr=0.5), table.weight.detach().clone()
    table(dt.tensor([1, 1])).sum().backward()
    with Hear():
        optimizer.step()
    change = (before - table.weight).detach().tolist()
    assert change[1] == pytest.approx([1.0, 1.0]) and change[0] == [0.0, 0.0]
