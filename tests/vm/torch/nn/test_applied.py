"""Layers of one line are as if written by hand: signatures, sources, errors, subclasses, options changed later."""
import inspect
import os
import pickle
import subprocess
import sys
import warnings

import dragon
import pytest
from dragon.vm import torch

nn = torch.nn


def test_signatures_and_sources_are_those_of_methods():
    assert str(inspect.signature(nn.RReLU)) == "(lower=0.125, upper=0.3333333333333333, inplace=False)"
    assert str(inspect.signature(nn.MaxUnpool2d.forward)) == "(self, input, indices, output_size=None)"
    assert "return F.elu(input, self.alpha, self.inplace)" in inspect.getsource(nn.ELU.forward)
    assert nn.ELU.__init__.__qualname__ == "ELU.__init__" and nn.ELU.forward.__module__ == nn.ELU.__module__


def test_lines_that_are_written_are_dragons_own_and_warnings_are_the_users():
    assert nn.ELU.forward.__code__.co_filename.startswith(os.path.dirname(dragon.__file__) + os.sep)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        nn.KLDivLoss()(torch.zeros(2), torch.zeros(2))
    assert [os.path.basename(warning.filename) for warning in caught] == [os.path.basename(__file__)]


@pytest.mark.parametrize("make, words", [
    (lambda: nn.ELU(slope=1), "ELU.__init__() got an unexpected keyword argument 'slope'"),
    (lambda: nn.Threshold(1.0), "Threshold.__init__() missing 1 required positional argument: 'value'"),
    (lambda: nn.GaussianNLLLoss(True), "GaussianNLLLoss.__init__() takes 1 positional argument but 2 were given"),
    (lambda: nn.MSELoss()(1), "MSELoss.forward() missing 1 required positional argument: 'target'")])
def test_wrong_arguments_are_told_as_python_tells_them(make, words):
    with pytest.raises(TypeError) as error:
        make()
    assert words in str(error.value)


def test_options_count_as_they_are_at_the_call():
    x, layer = torch.tensor([-1.0, 2.0]), pickle.loads(pickle.dumps(nn.LeakyReLU(0.5)))
    assert layer(x).tolist() == [-0.5, 2.0]
    layer.negative_slope = 0.25
    assert layer(x).tolist() == [-0.25, 2.0] and repr(layer) == "LeakyReLU(negative_slope=0.25)"


def test_subclasses_call_what_is_written_above():
    class Doubled(nn.CrossEntropyLoss):
        def __init__(self, factor):
            super().__init__(reduction="none")
            self.factor = factor

        def forward(self, input, target):
            return self.factor * super().forward(input, target)

    logits, classes = torch.randn(3, 4), torch.tensor([0, 1, 2])
    plain = nn.CrossEntropyLoss(reduction="none")(logits, classes)
    assert torch.equal(Doubled(2)(logits, classes), 2 * plain)


def test_a_class_above_that_others_have_wrapped_still_keeps_its_arguments(tmp_path):
    """Libraries that place parameters elsewhere wrap `__init__` of every module, maybe before a layer is first made."""
    program = """if True:
        import functools
        from dragon.vm.torch import nn
        above = nn.modules.loss._WeightedLoss
        plain = above.__init__

        @functools.wraps(plain)
        def wrapped(*args, **kwargs):
            return plain(*args, **kwargs)
        above.__init__ = wrapped
        print(nn.CrossEntropyLoss(size_average=False).reduction)
    """
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], cwd=tmp_path, capture_output=True, text=True,
                          timeout=120)
    assert (done.stdout, done.stderr) == ("sum\n", "")


def test_names_of_users_are_theirs():
    class Mine(nn.Sigmoid):
        def __init__(self):
            super().__init__()
            self.inplace, self._options, self._shown = True, {"a": 1}, 0

    assert repr(Mine()) == "Mine()"


def test_lines_of_options_alone_are_settled_by_the_class():
    from dragon.vm.torchvision.transforms import v2

    told = "(target_size, scale_range=(0.1, 2.0), interpolation='bilinear', antialias=True)"
    assert str(inspect.signature(v2.ScaleJitter)) == told and v2.TenCrop(3).size == (3, 3)
    assert str(inspect.signature(nn.AdaptiveMaxPool2d)) == "(output_size, return_indices=False)"
    assert nn.AvgPool1d(3).stride == (3,) and nn.MaxPool2d(3).stride == 3
    with pytest.raises(ValueError, match="dropout probability"):
        nn.Dropout2d(2.0)
    with pytest.raises(TypeError, match=r"_DropoutNd.__init__\(\) got an unexpected keyword argument 'q'"):
        nn.Dropout2d(q=2.0)
