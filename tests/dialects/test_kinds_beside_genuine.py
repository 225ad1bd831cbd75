"""What follows from kinds and signatures is what genuine PyTorch does."""
import pytest

from dragon.dialects.aten import table
from dragon.dialects.aten.signatures import EXPORTS, signatures
from dragon.vm import torch as dt
from dragon.vm.torch.core.exporting.overload_resolution import takes_numbers

gt = pytest.importorskip("torch")
# Of a tensor and another, or a number.
OF_TWO = [name for name in (full.removeprefix("aten::") for full in signatures(EXPORTS))
          if not name.startswith("__") and {"Tensor", "Scalar"} <= table.overloads(name).keys()
          and [part.name for part in table.overloads(name)["Tensor"].arguments[:2]] == ["self", "other"]]


def overload_of(torch, make_fx, name):
    """Return the overload that a call with a number is, None where the function takes none."""
    function = getattr(torch, name, None) or getattr(torch.Tensor, name, None)
    try:
        graph = make_fx(lambda x: function(x.clone(), 2))(torch.arange(1, 4)).graph
    except (TypeError, RuntimeError, AttributeError, NotImplementedError):
        return None
    return [node.target._overloadname for node in graph.nodes if node.op == "call_function"][-1]


def test_numbers_stand_in_the_places_of_tensors():
    from dragon.vm.torch.fx.experimental.proxy_tensor import make_fx
    from torch.fx.experimental.proxy_tensor import make_fx as genuine_make_fx
    found = {name: (overload_of(dt, make_fx, name), overload_of(gt, genuine_make_fx, name)) for name in OF_TWO}
    assert sum(None not in pair for pair in found.values()) > 40
    assert not {name: pair for name, pair in found.items() if None not in pair and pair[0] != pair[1]}
    assert {found[name][1] for name in OF_TWO if takes_numbers(name)} <= {"Tensor", None}
