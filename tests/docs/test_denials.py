"""What pages say is missing is missing: once it is there, this test names the sentence that has become untrue."""
import pytest

import dragon
from dragon.vm import keras
from dragon.vm import tensorflow as tf
from dragon.vm import torch
from harness.subresults import each
from harness.tools import ROOT

MODEL = "keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])"
STRIPES = "torch.ones(2, 2, dtype=torch.int64)"
# A page, words that stand on it, and a program that fails as long as they are true.
DENIALS = [
    ("README.md", "PyTorch's layers whose results stay integers",
     "torch.ao.quantization.prepare(torch.nn.Linear(1, 1))"),
    ("README.md", "`torch.distributed.rpc`", "torch.distributed.rpc.init_rpc('a', rank=0, world_size=1)"),
    ("README.md", "sessions of `tf.compat.v1`", "tf.compat.v1.Session().run(tf.constant(1))"),
    ("README.md", "TPUs", "tf.distribute.TPUStrategy()"),
    ("docs/index.md", "`tf.compat.v1`\n  sessions", "tf.compat.v1.Session().run(tf.constant(1))"),
    ("docs/start/pytorch.md", "`torch.utils.cpp_extension`", "torch.utils.cpp_extension.load_inline('a', '')"),
    ("docs/start/keras.md", "`JaxLayer`, `FlaxLayer`", "keras.layers.JaxLayer(len)"),
    ("docs/start/keras.md", "`JaxLayer`, `FlaxLayer`", "keras.layers.FlaxLayer(None)"),
    ("docs/start/tensorflow.md", "placeholders of `tf.compat.v1`", "tf.compat.v1.placeholder(tf.float32)"),
    ("docs/start/tensorflow.md", "programs of TensorFlow 1", "tf.compat.v1.disable_v2_behavior()"),
    ("docs/start/tensorflow.md", "TensorFlow Lite", "tf.lite"),
    ("docs/start/coming_from.md", "layers whose results stay integers are **missing**",
     "torch.ao.quantization.convert(torch.ao.quantization.prepare(torch.nn.Linear(1, 1)))"),
    ("docs/guide/pytorch.md", "Layers whose results stay integers (`prepare`) are absent",
     "torch.ao.quantization.prepare(torch.nn.Linear(1, 1))"),
    ("docs/guide/keras.md", "tensors of quantized dtypes", "tf.zeros((2,), tf.qint8)"),
    ("docs/guide/keras.md", "of 2 or 4 bits", "tf.zeros((2,), tf.int4)"),
    ("docs/guide/keras.md", "`tf.raw_ops` that hold variables", "tf.raw_ops.AssignVariableOp"),
    ("docs/guide/keras.md", "tables and control flow", "tf.raw_ops.HashTableV2"),
    ("docs/guide/keras.md", "tables and control flow", "tf.raw_ops.While"),
    ("docs/guide/several_processes.md", "`torch.distributed.rpc`.", "torch.distributed.rpc.rpc_sync('a', len)"),
    ("docs/tensorflow/differences.md", "`TPUStrategy` refuses", "tf.distribute.TPUStrategy()"),
    ("docs/tensorflow/differences.md", "`layers`, `metrics`", "tf.compat.v1.layers.dense"),
    ("docs/tensorflow/differences.md", "`layers`, `metrics`", "tf.compat.v1.metrics.mean"),
    ("docs/tensorflow/differences.md", "`nn.rnn_cell`", "tf.compat.v1.nn.rnn_cell.LSTMCell"),
    ("docs/keras/differences.md", "other formats raise, by name", f"{MODEL}.export('x', format='litert')"),
    ("docs/keras/differences.md", "another name is refused", "keras.config.set_backend('jax')"),
    ("docs/torch/differences.md", "cuts the factor to an integer",
     f"torch.addmm({STRIPES}, {STRIPES}, {STRIPES}, alpha=0.2)"),
    ("docs/torch/differences.md", "beyond 65536",
     "torch.special.laguerre_polynomial_l(torch.ones(1), torch.tensor(7e4))"),
    ("docs/torch/differences.md", "`to_dense(masked_grad=False)`",
     "torch.eye(2).to_sparse().requires_grad_().to_dense(masked_grad=False)"),
    ("docs/torch/differences.md", "`torch.sparse.spsolve`",
     "torch.sparse.spsolve(torch.eye(2).to_sparse_csr(), torch.ones(2))"),
    ("docs/torch/differences.md", "`_native_batch_norm_legit`", "torch._native_batch_norm_legit"),
    ("docs/guide/dali.md", "videos", "dali.fn.readers.video(filenames=['a'], sequence_length=2)"),
    ("docs/guide/dali.md", "databases of Caffe", "dali.fn.readers.caffe(path='a')"),
    ("docs/guide/dali.md", "optical flow", "dali.fn.optical_flow(1)"),
]


@each("page, words, program", DENIALS, ids=[entry[2].split("(")[0] for entry in DENIALS])
def test_what_a_page_denies_is_missing(page, words, program):
    from dragon.vm import dali
    assert words in (ROOT / page).read_text(encoding="utf-8"), f"{page}: its words have changed: {words!r}"
    names = {"dragon": dragon, "torch": torch, "tf": tf, "keras": keras, "dali": dali}
    try:
        eval(program, names)
    except (AttributeError, NotImplementedError, RuntimeError, ValueError):
        return
    pytest.fail(f"{page}: {words!r} is untrue, for this works: {program}", pytrace=False)
