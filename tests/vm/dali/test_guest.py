"""Programs find pipelines as `nvidia.dali` where DALI is not installed, and the tensors of the frameworks they use."""

import pytest

from harness import interpreter

NAMES = """
import sys
import dragon.vm
dragon.vm.install()
import nvidia.dali as dali
import nvidia.dali.fn as fn, nvidia.dali.ops as ops, nvidia.dali.types as types, nvidia.dali.math
from nvidia.dali import pipeline_def, Pipeline
from nvidia.dali.pipeline import pipeline_def as same
from nvidia.dali.plugin.base_iterator import LastBatchPolicy
import dragon.vm.dali
assert dragon.vm.dali is dali and same is pipeline_def and fn is dali.fn is dragon.vm.dali.fn
assert sys.modules["dragon.vm.dali.plugin.base_iterator"].LastBatchPolicy is LastBatchPolicy
assert fn.readers.file and fn.decoders.image and ops.readers.TFRecord and ops.Uniform and fn.experimental.filter
"""
TORCH = """
import dragon.vm
dragon.vm.install()
import numpy as np
import torch
from nvidia.dali import fn, pipeline_def
from nvidia.dali.plugin.pytorch import DALIGenericIterator, DALIRaggedIterator, feed_ndarray

@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def make():
    data = fn.external_source([[np.float32([1, 2])] * 2, [np.float32([3, 4])] * 2], cycle="raise")
    return data, fn.cat(data, data)

iterator = DALIGenericIterator(make(), ["one", "two"], auto_reset=True)
for epoch in range(2):
    batches = [batch[0] for batch in iterator]
    assert [type(batch["one"]) for batch in batches] == [torch.Tensor] * 2, batches
    assert batches[1]["two"].tolist() == [[3, 4, 3, 4]] * 2
ragged = DALIRaggedIterator(make(), ["one", "two"], output_types=["dense", "sparse_list"])
assert [one.tolist() for one in next(ragged)[0]["two"]] == [[1, 2, 1, 2]] * 2
target = torch.zeros(2, 2)
assert feed_ndarray(make().run()[0], target) is target and target.tolist() == [[1, 2]] * 2
from nvidia.dali.plugin.pytorch.fn import torch_python_function

@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def called(whole):
    data = fn.external_source(lambda: [np.float32([1, 2]), np.float32([3, 4])])
    change = (lambda batch: [one * 2 for one in batch]) if whole else (lambda one: one * 2)
    return torch_python_function(data, function=change, batch_processing=whole)

assert [called(whole).run()[0].as_array().tolist() for whole in (False, True)] == [[[2, 4], [6, 8]]] * 2
"""
TENSORFLOW = """
import dragon.vm
dragon.vm.install()
import numpy as np
import tensorflow as tf
from nvidia.dali import fn, pipeline_def
from nvidia.dali.plugin.tf import DALIDataset

@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def make():
    return fn.external_source([[np.float32([1, 2])] * 2], cycle="raise")

data = DALIDataset(pipeline=make(), batch_size=2, output_shapes=(2, 2), output_dtypes=tf.float32, device_id=0)
for epoch in range(2):
    assert [batch.numpy().tolist() for batch in data] == [[[1, 2], [1, 2]]]
try:
    next(iter(DALIDataset(pipeline=make(), output_dtypes=tf.int32)))
except Exception as error:
    assert "DALIDataset: got an output of type" in str(error), error
else:
    raise AssertionError("a wrong type was taken")
"""


@pytest.mark.parametrize("program", [NAMES, TORCH, TENSORFLOW], ids=["names", "torch", "tensorflow"])
def test_program(program, tmp_path):
    done = interpreter.run(["-c", program], tmp_path, timeout=100, preload="import numpy, dragon")
    assert done.returncode == 0, done.stderr


SHARED = """
import importlib.util, sys
import dragon.vm
dragon.vm.install()
import nvidia
if sys.argv[1] == "genuine":
    import nvidia.dali
    assert nvidia.dali.GENUINE and "dragon.vm.dali" not in sys.modules
else:
    import nvidia.other
    assert nvidia.other.THERE
    from nvidia import dali
    assert dali.__name__ == "dragon.vm.dali" and dali.fn.resize
"""


@pytest.mark.parametrize("installed", ["genuine", "other"])
def test_packages_on_the_disk_are_found(installed, tmp_path):
    """A DALI that is installed answers for itself, and so do others within the package around it."""
    name, line = {"genuine": ("dali", "GENUINE = True"), "other": ("other", "THERE = True")}[installed]
    (tmp_path / "nvidia" / name).mkdir(parents=True)
    (tmp_path / "nvidia" / name / "__init__.py").write_text(line + "\n")
    done = interpreter.run(["-c", SHARED, installed], tmp_path, timeout=100, preload="import numpy, dragon")
    assert done.returncode == 0, done.stderr
