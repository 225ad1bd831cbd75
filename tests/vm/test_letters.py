"""What a newcomer's first mistakes are answered with: devices that are not there, mistyped names, wrong channels."""
import importlib.util
import re

import pytest

from dragon.core import config
from dragon.vm import guest, keras, tensorflow, torch
from harness.subresults import each

NAMES = {"torch": torch, "keras": keras, "tf": tensorflow}
TYPOS = {
    "torch.nn.Conv2D": "PyTorch has no such name either; did you mean 'torch.nn.Conv2d'?",
    "torch.sofmax": "PyTorch has no such name either; did you mean 'torch.softmax'?",
    "torch.nn.functional.rellu": "did you mean 'torch.nn.functional.relu'?",
    "torch.optim.Adm": "did you mean 'torch.optim.Adam'?",
    "keras.layers.Dnese": "Keras has no such name either; did you mean 'keras.layers.Dense'?",
    "tf.nn.rellu": "TensorFlow has no such name either; did you mean 'tensorflow.nn.relu'?",
    "torch.qqqqzzzz": "PyTorch has no such name either",
}
# What the genuine frameworks do have.
ABSENT = ("torch.lobpcg", "tf.strings.unicode_script", "torch.BenchmarkConfig")
CHANNELS = {
    "torch.nn.Conv2d(3, 8, 3)(torch.ones(1, 4, 8, 8))": r"input \(1, 4, 8, 8\) with 4 channels \(dim 1\) and weight "
                                                        r"\(8, 3, 3, 3\), which takes 3, expected input \(N, 3, spat",
    "torch.nn.Conv2d(3, 8, 3)(torch.ones(1, 8, 8, 3))": "its last dim has as many: it may be stored channels last",
    "torch.nn.Conv1d(3, 8, 3)(torch.ones(1, 8, 3))": "conv1d.*8 channels.*which takes 3.*wants a permute",
    "torch.nn.Conv2d(4, 8, 3, groups=2)(torch.ones(1, 6, 8, 8))": "6 channels.*which takes 4",
    "torch.nn.ConvTranspose2d(3, 8, 3)(torch.ones(1, 4, 8, 8))": "conv_transpose2d.*4 channels.*which takes 3",
    "layer = keras.layers.Conv2D(8, 3); layer(tf.ones((1, 8, 8, 3))); layer(tf.ones((1, 3, 8, 8)))":
        r"expected axis -1 of input shape to have value 3, but received input with shape \(1, 3, 8, 8\)\. Axis 1 has "
        "3: if the channels stand there, the layer wants data_format='channels_first'",
    "layer = keras.layers.Conv2D(8, 3); layer(tf.ones((1, 8, 8, 3))); layer(tf.ones((1, 8, 8, 4)))":
        r"received input with shape \(1, 8, 8, 4\)$",
    "tf.nn.conv2d(tf.ones((1, 3, 8, 8)), tf.ones((3, 3, 3, 8)), 1, 'SAME')":
        r"input channels=8, kernel input channels=3, data_format='channels_last'\. With data_format='channels_first'",
    "keras.ops.conv(tf.ones((1, 8, 8, 4)), tf.ones((3, 3, 3, 8)))":
        r"input channels=4, kernel input channels=3, data_format='channels_last'\. The input's shape is \(1, 8, 8, 4\)",
}


@pytest.mark.parametrize("name", TYPOS)
def test_a_mistyped_name(name):
    with pytest.raises(AttributeError, match=re.escape(TYPOS[name])) as raised:
        eval(name, NAMES)
    assert "yet" not in str(raised.value)


@pytest.mark.parametrize("name", ABSENT)
def test_a_name_that_is_only_missing_here(name):
    with pytest.raises(AttributeError, match=r"Dragon does not have it \(yet\)"):
        eval(name, NAMES)


@pytest.mark.parametrize("name", ["torch._no_such", "torch.nn.modules._no_such"])
def test_private_names_are_nobodys_typos(name):
    with pytest.raises(AttributeError, match=r"Dragon does not have it \(yet\)"):
        eval(name, NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("module", ["torch", "torch.nn", "torch.optim", "torch.nn.functional", "keras.layers"])
def test_the_list_of_absent_names_holds(module):
    genuine = pytest.importorskip(module)
    assert "dragon" not in genuine.__file__
    mine = eval(module, NAMES)
    absent = {name for name in guest.genuine_names()[module]
              if not hasattr(genuine, name) and importlib.util.find_spec(f"{module}.{name}") is None}
    assert not absent
    assert not [name for name in guest.genuine_names()[module] if name in dir(mine) and not is_stand_in(mine, name)]


def is_stand_in(module, name):
    """Return whether a name is a module that can only be imported, which somebody has done in this process."""
    spec = getattr(getattr(module, name), "__spec__", None)
    return getattr(spec, "loader", None).__class__.__module__.endswith(".core.absent")


def test_names_that_came_meanwhile_leave_the_list():
    for module, names in guest.genuine_names().items():
        assert module.split(".")[0] in guest.GENUINE and module == module.strip(), module
        assert not any(name.startswith("_") for name in names)


@pytest.mark.skipif(config.device_count("cuda") > 0, reason="there is a CUDA device")
@pytest.mark.parametrize("code", ["torch.zeros(1).cuda()", "torch.zeros(1).to('cuda')", "torch.zeros(1, device='cuda')",
                                  "torch.nn.Linear(1, 1).cuda()", "torch.zeros(1).to(torch.device('cuda:3'))"])
def test_a_missing_cuda_device(code):
    with pytest.raises(RuntimeError, match=r"got cuda, for which nothing is loaded: this build has no kernels for it, "
                       r"or no device was found, expected 'cpu', or an answer to torch\.cuda\.is_available\(\) first"):
        eval(code, NAMES)


@pytest.mark.skipif(config.device_count("cuda") > 0, reason="there is a CUDA device")
def test_devices_that_tensorflow_and_keras_do_without():
    with tensorflow.device("/GPU:0"):  # soft placement, as TensorFlow has it
        assert "CPU" in tensorflow.ones(1).device
    with keras.device("gpu:0"):
        assert keras.ops.ones(1).shape == (1,)


@each("code", CHANNELS)
def test_wrong_channels(code):
    with pytest.raises(ValueError, match=CHANNELS[code]):
        exec(code, dict(NAMES))


def test_places_that_a_folder_shares_its_name_with():
    from dragon.vm import tensorflow
    with pytest.raises(AttributeError, match="Dragon does not have it"):
        tensorflow.distribute.experimental.rpc
    with pytest.raises(AttributeError, match="TensorFlow has no such name either"):
        tensorflow.distribute.Sever
