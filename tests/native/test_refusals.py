"""Methods called with something that is no tensor refuse it by name, as the operators do."""
import pytest

import dragon

CALLS = {
    "iterate": lambda: dragon.Tensor.__iter__(0),
    "array": lambda: dragon.Tensor.__array__(-1, False),
    "format": lambda: dragon.Tensor.__format__(2j, "x"),
    "cast": lambda: dragon.Tensor.astype([], "float64"),
    "assign": lambda: dragon.Tensor.requires_grad_({}),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_is_no_tensor_is_named(call):
    with pytest.raises(TypeError, match="got '.*' for argument 'self', expected a tensor"):
        call()
