"""Event files say what genuine ones do, and are read by genuine TensorFlow."""
import glob

import numpy as np
import pytest
from harness import genuine

from dragon.vm import tensorflow as dtf

PIXELS = (np.arange(2 * 4 * 5 * 3) * 2 % 256).astype(np.uint8).reshape(2, 4, 5, 3)
VALUES = np.array([0.0, 1.0, 1.0, 2.5, 4.0], np.float32)


def read(folder):
    """Return the values of all events in a folder, as genuine TensorFlow reads them."""
    from tensorflow.python.summary.summary_iterator import summary_iterator
    found = []
    for path in sorted(glob.glob(folder + "/events.out.tfevents.*")):
        for event in summary_iterator(path):
            for value in event.summary.value:
                found.append((event.step, value.tag, value.metadata.plugin_data.plugin_name,
                              genuine.tf.make_ndarray(value.tensor)))
    return found


WRITES = {
    "scalar": lambda s: s.scalar("loss", 0.5, step=3),
    "scalar_tensor": lambda s: s.scalar("loss", np.float64(2.25), step=4, description="how bad"),
    "histogram": lambda s: s.histogram("weights", VALUES, step=1, buckets=4),
    "histogram_default": lambda s: s.histogram("weights", VALUES, step=1),
    "text": lambda s: s.text("note", "some *text*", step=0),
    "text_table": lambda s: s.text("note", ["a", "b"], step=0),
    "write": lambda s: s.write("raw", [1.0, 2.0], step=2),
}


@pytest.mark.parametrize("name", WRITES)
def test_values_are_as_genuine(name, tmp_path):
    pytest.importorskip("tensorboard")
    found = []
    for number, tf in enumerate((dtf, genuine.tf)):
        folder = str(tmp_path / str(number))
        with tf.summary.create_file_writer(folder).as_default():
            WRITES[name](tf.summary)
        found.append(read(folder))
    (mine,), (theirs,) = found
    assert mine[:3] == theirs[:3]
    assert mine[3].dtype == theirs[3].dtype
    if mine[3].dtype == object:
        assert mine[3].tolist() == theirs[3].tolist()
    else:
        np.testing.assert_allclose(mine[3], theirs[3], rtol=1e-6)


def test_pictures_and_sounds(tmp_path):
    pytest.importorskip("PIL")
    sounds = np.sin(np.arange(200, dtype=np.float32) / 5).reshape(1, 100, 2)
    pytest.importorskip("tensorboard")
    found = []
    for number, tf in enumerate((dtf, genuine.tf)):
        folder = str(tmp_path / str(number))
        with tf.summary.create_file_writer(folder).as_default(step=7):
            tf.summary.image("picture", PIXELS, max_outputs=1)
            tf.summary.image("floats", PIXELS / 255.0)
            tf.summary.audio("sound", sounds, 8000)
        found.append(read(folder))
    assert [value[:3] for value in found[0]] == [value[:3] for value in found[1]]
    for mine, theirs in zip(*found):
        if mine[1] == "sound":
            decoded = [genuine.tf.audio.decode_wav(value[3][0, 0]).audio.numpy() for value in (mine, theirs)]
        else:
            assert mine[3][:2].tolist() == theirs[3][:2].tolist()
            decoded = [np.stack([genuine.tf.io.decode_png(file).numpy() for file in value[3][2:]])
                       for value in (mine, theirs)]
        np.testing.assert_allclose(decoded[0], decoded[1], atol=1e-3)


def test_steps_scopes_and_conditions(tmp_path):
    pytest.importorskip("tensorboard")
    found = []
    for number, tf in enumerate((dtf, genuine.tf)):
        folder = str(tmp_path / str(number))
        assert not tf.summary.scalar("nobody", 1.0, step=0)
        writer = tf.summary.create_file_writer(folder)
        step = tf.Variable(5, dtype=tf.int64)
        with writer.as_default():
            with pytest.raises(ValueError, match="No step set"):
                tf.summary.scalar("without", 1.0)
            tf.summary.experimental.set_step(step)
            tf.summary.scalar("a", 1.0)
            step.assign_add(1)
            with tf.name_scope("outer"):
                tf.summary.scalar("b", 2.0)
            with tf.summary.record_if(False):
                tf.summary.scalar("c", 3.0)
            tf.summary.experimental.set_step(None)
        writer.close()
        found.append([value[:2] for value in read(folder)])
    assert found[0] == found[1] == [(5, "a"), (6, "outer/b")]


def test_files_are_read_by_genuine_tensorflow(tmp_path):
    writer = dtf.summary.create_file_writer(str(tmp_path))
    with writer.as_default(step=2):
        dtf.summary.scalar("loss", dtf.constant(0.25))
        dtf.summary.text("note", "hello")
        dtf.summary.histogram("same", [3.0, 3.0], buckets=2)
    (loss, note, same) = read(str(tmp_path))
    assert loss[:3] == (2, "loss", "scalars") and loss[3] == np.float32(0.25)
    assert note[:3] == (2, "note", "text") and note[3] == b"hello"
    assert same[3].tolist() == [[2.5, 3.5, 0.0], [2.5, 3.5, 2.0]]


def test_bad_input_raises(tmp_path):
    writer = dtf.summary.create_file_writer(str(tmp_path))
    with writer.as_default(step=0):
        for call in (lambda: dtf.summary.scalar("a", [1.0, 2.0]), lambda: dtf.summary.image("a", [1.0]),
                     lambda: dtf.summary.audio("a", [[[0.0]]], 8000, encoding="mp3")):
            with pytest.raises(ValueError):
                call()
    writer.close()
    with pytest.raises(RuntimeError, match="already closed"):
        with writer.as_default():
            pass
