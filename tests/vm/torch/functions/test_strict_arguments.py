"""A number is no tensor and a bool is no integer, wherever genuine PyTorch says so."""
import warnings

import pytest

import torch as genuine

from dragon.vm import torch as mine

PLACES = {"": genuine, "special": genuine.special, "linalg": genuine.linalg, "fft": genuine.fft}
# Ours take what NumPy takes, and make tensors of numbers; PyTorch refuses them.
MAKERS = {"atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "cudnn_is_acceptable", "empty_like", "meshgrid",
          "ones_like", "where", "zeros_like"}


def functions(place):
    """Yield (name, genuine function, ours) of the operators that both have."""
    operators = set(genuine.overrides.get_testing_overrides())
    ours = getattr(mine, place) if place else mine
    for name in dir(PLACES[place]):
        function = getattr(PLACES[place], name)
        if not isinstance(function, type) and callable(function) and function in operators and hasattr(ours, name):
            yield name, function, getattr(ours, name)


def error_of(function, *args):
    """Return the class of the error of a call, or None."""
    try:
        function(*args)
    except Exception as error:
        return type(error)
    return None


@pytest.mark.parametrize("place", PLACES)
def test_a_number_is_no_tensor(place):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        asked = [(name, ours) for name, theirs, ours in functions(place) if error_of(theirs, 3) is TypeError]
        taken = {name for name, ours in asked if error_of(ours, 3) is None}
    assert len(asked) > 15 and taken <= MAKERS


@pytest.mark.parametrize("name", ("div", "floor_divide", "isin", "mul", "multiply", "true_divide", "pow", "remainder",
                                  "xlogy", "bitwise_and", "float_power"))
def test_numbers_that_may_be_first(name):
    numbers = [2, 3, 4]
    found = getattr(mine, name)(3, mine.tensor(numbers))
    assert found.tolist() == getattr(genuine, name)(3, genuine.tensor(numbers)).tolist()


@pytest.mark.parametrize("name,args", (
    ("transpose", (False, True)), ("flip", ([True],)), ("cummin", (True,)), ("diag_embed", (True,)),
    ("channel_shuffle", (True,)), ("index_select", (True, "index")), ("narrow", (True, 0, 1)), ("cumsum", (True,)),
    ("diagonal", (True,)), ("roll", (True,)), ("unsqueeze", (True,)), ("tril", (True,)), ("topk", (True,))))
def test_a_bool_is_no_integer(name, args):
    for torch in (genuine, mine):
        x = torch.ones(2, 2, 2, 2)
        given = [torch.tensor([0]) if one == "index" else one for one in args]
        with pytest.raises(TypeError):
            getattr(torch, name)(x, *given)
        if hasattr(torch.Tensor, name):
            with pytest.raises(TypeError):
                getattr(x, name)(*given)


def test_flags_are_bools_and_integers_integers():
    x = mine.ones(2, 3)
    assert mine.sum(x, 1, True).shape == (2, 1) and mine.transpose(x, 0, 1).shape == (3, 2)
