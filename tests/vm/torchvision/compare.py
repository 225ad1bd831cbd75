"""The same on both sides: tensors by their bytes, images of Pillow by their pixels, structures by their items."""
import numpy
import torch

from dragon.vm import torch as dt


def mine(value):
    """Return a value with genuine tensors turned into Dragon's."""
    if isinstance(value, torch.nn.Parameter) or type(value) is torch.Tensor:
        return dt.tensor(value.detach().numpy().copy(), requires_grad=value.requires_grad)
    if isinstance(value, torch.dtype):
        return getattr(dt, str(value).rpartition(".")[2])
    if isinstance(value, (list, tuple)):
        return type(value)(mine(item) for item in value)
    if isinstance(value, dict):
        return {key: mine(item) for key, item in value.items()}
    return value


def array(value):
    """Return a tensor of either side, or an image, as an array."""
    if isinstance(value, (torch.Tensor, dt.Tensor)):
        return value.detach().numpy()
    return numpy.asarray(value)


def same(found, wanted, rtol=0.0, atol=0.0):
    """Assert that two results are the same."""
    if isinstance(wanted, dict):
        assert list(found) == list(wanted)
        found, wanted = list(found.values()), list(wanted.values())
    if isinstance(wanted, (list, tuple)) and not isinstance(wanted, torch.Size):
        assert len(found) == len(wanted)
        for pair in zip(found, wanted):
            same(*pair, rtol, atol)
        return
    if isinstance(wanted, torch.Tensor):
        assert isinstance(found, dt.Tensor), type(found)
        assert str(found.dtype) == str(wanted.dtype)
    if hasattr(wanted, "getbands"):
        assert found.mode == wanted.mode
    found, wanted = array(found), array(wanted)
    assert found.shape == wanted.shape, (found.shape, wanted.shape)
    if found.dtype == bool or (rtol == 0 and atol == 0):
        numpy.testing.assert_array_equal(found, wanted)
    else:
        numpy.testing.assert_allclose(found.astype("float64"), wanted.astype("float64"), rtol, atol)


def seeded(seed, function, *args):
    """Return what a function returns after both sides' streams were started with a seed."""
    import random
    random.seed(seed)
    torch.manual_seed(seed)
    dt.manual_seed(seed)
    return function(*args)
