"""Models that move pictures, read boxes and choose among them, as ONNX files for batches of any size."""
import numpy as np
import pytest

from dragon.vm import keras
from dragon.vm import tensorflow as tf

runtime = pytest.importorskip("onnxruntime")

RANDOM = np.random.default_rng(0)
PICTURES = RANDOM.random((4, 9, 11, 3), "float32")
BOXES = np.concatenate([RANDOM.random((4, 20, 1, 2)), 1 + RANDOM.random((4, 20, 1, 2))], -1).astype("float32") / 2
SCORES = RANDOM.random((4, 20, 3), "float32")
TURN = np.array([0.9, 0.1, -1, -0.1, 0.9, 2, 0.001, 0.002], "float32")
MODELS = {
    **{f"moved, {fill}": (lambda x, fill=fill: keras.ops.image.affine_transform(x, TURN, fill_mode=fill), PICTURES)
       for fill in ("constant", "nearest", "reflect", "wrap")},
    "chosen of many classes": (lambda boxes, scores: list(tf.image.combined_non_max_suppression(
        boxes, scores, 5, 10, 0.3, 0.1)), BOXES, SCORES),
    "chosen": (lambda boxes, scores: list(tf.image.non_max_suppression_padded(
        boxes[:, :, 0], scores[..., 0], 8, 0.3, 0.1, pad_to_max_output_size=True)), BOXES, SCORES),
    **{f"read, {method}": (lambda x, boxes, method=method: tf.image.crop_and_resize(
        x, boxes[:, 0, 0] * 1.5 - 0.2, tf.range(tf.shape(x)[0]), (5, 6), method, 0.5), PICTURES, BOXES)
       for method in ("bilinear", "nearest")}}


@pytest.mark.parametrize("name", MODELS)
def test_runs_as_the_model_does(name, tmp_path):
    call, *arrays = MODELS[name]
    inputs = [keras.Input(array.shape[1:]) for array in arrays]
    layer = keras.layers.Lambda(lambda values: call(*values) if isinstance(values, (list, tuple)) else call(values))
    model = keras.Model(inputs, layer(inputs if len(inputs) > 1 else inputs[0]))
    model.export(tmp_path / "model.onnx", format="onnx", verbose=False)
    session = runtime.InferenceSession(tmp_path / "model.onnx")
    for count in (4, 2, 1):
        fed = [array[:count] for array in arrays]
        found = session.run(None, {place.name: array for place, array in zip(session.get_inputs(), fed)})
        wanted = model(fed)
        for one, other in zip(found, wanted if isinstance(wanted, (list, tuple)) else [wanted], strict=True):
            np.testing.assert_allclose(one, other.numpy(), rtol=1e-5, atol=1e-6)
