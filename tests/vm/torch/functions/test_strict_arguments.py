"""A number is no tensor and a bool is no integer, wherever genuine PyTorch says so."""
import warnings

import pytest

import torch as genuine

from dragon.vm import torch as mine
from harness.subresults import each

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


@each("name", ("div", "floor_divide", "isin", "mul", "multiply", "true_divide", "pow", "remainder",
               "xlogy", "bitwise_and", "float_power"))
def test_numbers_that_may_be_first(name):
    numbers = [2, 3, 4]
    found = getattr(mine, name)(3, mine.tensor(numbers))
    assert found.tolist() == getattr(genuine, name)(3, genuine.tensor(numbers)).tolist()


@each("name,args", (
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


@each("flag", (0, 1, 2.5, "text", None))
@each("code", (
    "x.copy_(x, non_blocking=flag)", "torch.nonzero(x, as_tuple=flag)", "x.nonzero(as_tuple=flag)",
    "torch.max(x, 1, keepdim=flag)", "torch.max(x, 1, flag)", "torch.allclose(x, x, equal_nan=flag)",
    "torch.var(x, 1, keepdim=flag)", "torch.combinations(x[0], 2, flag)", "x.fill_diagonal_(1.0, wrap=flag)",
    "torch.hann_window(4, periodic=flag)", "torch.gather(x, 0, i, sparse_grad=flag)", "x.lu(pivot=flag)",
    "torch.tensor([1.0], requires_grad=flag or 0)", "torch.zeros(2, requires_grad=flag or 0)",
    "x.new_ones(2, pin_memory=flag or 0)", "torch.fft.fftfreq(3, pin_memory=flag or 0)"))
def test_a_number_is_no_flag(code, flag):
    for torch in (genuine, mine):
        names = {"torch": torch, "flag": flag, "x": torch.ones(3, 3), "i": torch.zeros(3, 3, dtype=torch.int64)}
        with pytest.raises(TypeError):
            eval(code, names)


@pytest.mark.parametrize("code", (
    "torch.zeros(2, requires_grad=None)", "torch.zeros(2, pin_memory=None)", "torch.stft(x, 4, None, None, None, 1, "
    "return_complex=True)", "torch.pca_lowrank(torch.ones(3, 3), 2, 0)[1]", "torch.lu(torch.ones(2, 2), True, 1)[1]"))
def test_flags_of_which_only_the_truth_is_asked(code):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shapes = [eval(code, {"torch": torch, "x": torch.ones(9)}).shape for torch in (genuine, mine)]
    assert tuple(shapes[0]) == tuple(shapes[1])


@pytest.mark.parametrize("code", (
    "torch.diff(x, n=True)", "torch.diagonal_scatter(x, x[0], False)", "torch.unsafe_chunk(x, True)",
    "torch.unsafe_split(x, 1, True)", "torch.fft.fftfreq(True)", "torch.select_scatter(x, x[0], False, 0)"))
def test_a_bool_is_no_integer_in_functions_of_several_operators(code):
    for torch in (genuine, mine):
        with pytest.raises(TypeError):
            eval(code, {"torch": torch, "x": torch.ones(3, 3)})


@each("code", ("zeros(3, ", "ones(3, ", "empty(3, ", "full((3,), 1.0, ", "eye(3, ", "rand(3, ",
               "randn(3, ", "fft.fftfreq(3, ", "normal(0.0, 1.0, (3,), "))
def test_a_dtype_beside_a_destination_is_the_destinations(code):
    for torch in (genuine, mine):
        out = torch.zeros(0, dtype=torch.float64)
        assert eval(f"torch.{code}dtype=torch.float64, out=out)", {"torch": torch, "out": out}) is out
        with pytest.raises(RuntimeError, match="does not match dtype of out parameter"):
            eval(f"torch.{code}dtype=torch.float32, out=out)", {"torch": torch, "out": out})
