"""Programs that genuine TensorFlow saved: objects, functions, signatures."""
import numpy as np
import pytest

from dragon.vm import tensorflow as ours
from harness import genuine
from vm.tensorflow.saved_model.programs import make_program


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of a program."""
    tf, place = genuine.tf, tmp_path_factory.mktemp("program")
    made, target = make_program(tf, place), str(place / "saved")
    tf.saved_model.save(made, target, signatures={"serving_default": made.__call__, "look": made.look})
    (place / "vocabulary.txt").unlink()  # the folder has its own
    return target


@pytest.fixture
def pair(folder):
    """Return the program as genuine TensorFlow loads it, and as it is loaded here."""
    return genuine.tf.saved_model.load(folder), ours.saved_model.load(folder)


def plain(value):
    """Return results as Python's values."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(plain, value))
    if hasattr(value, "to_list"):
        return value.to_list()
    return value.numpy().tolist() if hasattr(value, "numpy") and hasattr(value.numpy(), "tolist") else (
        value.numpy() if hasattr(value, "numpy") else value)


def both(pair, call):
    """Return what a call gives, and assert that it is the same in both worlds."""
    expected = plain(call(pair[0], genuine.tf))
    found = plain(call(pair[1], ours))
    assert found == expected
    return found


def test_variables_and_state(pair):
    for _ in range(2):
        both(pair, lambda m, tf: m(tf.ones([3, 2])))
    both(pair, lambda m, tf: [m.w, m.count, m.parts[0], m.parts[1]["k"], m.parts[2][0]])
    assert isinstance(pair[1].parts[2], tuple) and pair[1].w.trainable and not pair[1].count.trainable
    both(pair, lambda m, tf: m.write(tf.constant([7.0, 8.0, 9.0])))
    both(pair, lambda m, tf: m.w)


def test_several_traces(pair):
    both(pair, lambda m, tf: m.many(tf.ones([3])))
    both(pair, lambda m, tf: m.many(tf.ones([3]), True))
    both(pair, lambda m, tf: m.many(tf.ones([3]), training=True))
    both(pair, lambda m, tf: m.many(np.ones([2, 2], "float32"), flag=3))
    for call in (lambda m: m.many(np.ones([4], "float32")), lambda m: m.many(np.ones([3], "float32"), flag=9)):
        for model in pair:
            with pytest.raises(ValueError, match="Could not find matching concrete function"):
                call(model)
    with pytest.raises(TypeError, match="'unknown'"):
        pair[1].many(ours.ones([3]), unknown=1)
    with pytest.raises(TypeError, match="no argument 'x'"):
        pair[1].many()


def test_tables_and_files(pair):
    both(pair, lambda m, tf: m.look(tf.constant(["a", "b", "x", "z", "k", "l", "unknown"])))


def test_control_flow(pair):
    assert [both(pair, lambda m, tf: m.collatz(tf.constant(n))) for n in (1, 6, 27)] == [0, 8, 111]


def test_structures(pair):
    both(pair, lambda m, tf: m.nested({"p": tf.ones([3]), "q": [tf.constant(1), tf.constant(2.0)]}))
    both(pair, lambda m, tf: m.ragged(tf.ragged.constant([[1.0, 2.0], [], [3.0]])))


def test_random_numbers_are_those_of_tensorflow(pair):
    for expected, found in zip(pair[0].draw(), pair[1].draw()):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6)
    np.testing.assert_allclose(pair[1].draw()[0].numpy(), pair[0].draw()[0].numpy(), rtol=1e-6)


def test_signatures(pair):
    both(pair, lambda m, tf: sorted(m.signatures))
    both(pair, lambda m, tf: m.signatures["serving_default"](x=tf.ones([1, 2])))
    both(pair, lambda m, tf: m.signatures["look"](tf.constant(["a"])))
    both(pair, lambda m, tf: str(m.signatures["look"].structured_input_signature).replace("tf.", ""))
    found = pair[1].signatures["serving_default"]
    assert {key: (tuple(spec.shape), spec.dtype) for key, spec in found.structured_outputs.items()} == {
        "n": ((), ours.int32), "out": ((None, 2), ours.float32)}
    for model in pair:
        with pytest.raises(TypeError):
            model.signatures["serving_default"](y=np.ones([1, 2], "float32"))


def test_concrete_functions(pair):
    found = pair[1].many.get_concrete_function(ours.TensorSpec([3]), True)
    assert plain(found(ours.ones([3]))) == [2.0, 2.0, 2.0]
    assert len(pair[1].many.concrete_functions) == len(pair[0].many.concrete_functions) == 3


def test_all_operators_are_known(pair):
    assert [pair[1].signatures[name].unknown_operators() for name in ("serving_default", "look")] == [[], []]


def test_gradients(pair):
    slopes = []
    for model, tf in zip(pair, (genuine.tf, ours)):
        x = tf.Variable([[1.0, 2.0]])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(model(x)["out"] ** 2)
        slopes.append([part.numpy().tolist() for part in tape.gradient(y, [x, model.w])])
    assert slopes[0] == slopes[1]
    np.testing.assert_allclose(pair[1].slope(ours.constant([0.1, 0.2])).numpy(), np.cos([0.1, 0.2]), rtol=1e-6)


def test_functions_become_graphs(pair):
    model = pair[1]
    call = ours.function(lambda x: model.signatures["serving_default"](x=x)["out"],
                         input_signature=[ours.TensorSpec([None, 2])])
    for rows in (2, 3, 5):
        np.testing.assert_array_equal(call(ours.ones([rows, 2])).numpy(), [[4.0, 6.0]] * rows)
    assert call.fallback is None
    model.w.assign([[0.0, 0.0], [0.0, 1.0]])
    assert call(ours.ones([2, 2])).numpy().tolist() == [[0.0, 1.0]] * 2


def test_checkpoint_of_a_loaded_program(pair, tmp_path):
    model = pair[1]
    model.w.assign([[9.0, 9.0], [9.0, 9.0]])
    path = ours.train.Checkpoint(model=model).write(str(tmp_path / "c"))
    model.w.assign([[0.0, 0.0], [0.0, 0.0]])
    ours.train.Checkpoint(model=model).read(path)
    assert float(model.w[0, 0]) == 9.0


def test_what_a_folder_is(folder, tmp_path):
    assert ours.saved_model.contains_saved_model(folder)
    assert not ours.saved_model.contains_saved_model(str(tmp_path))
    with pytest.raises(OSError, match="does not exist"):
        ours.saved_model.load(str(tmp_path))
    (tmp_path / "saved_model.pbtxt").write_text("")
    assert ours.saved_model.contains_saved_model(str(tmp_path))
    with pytest.raises(NotImplementedError, match="saved_model.pbtxt"):
        ours.saved_model.load(str(tmp_path))
    assert ours.saved_model.load(folder, tags="serve").count.numpy() == 1
    with pytest.raises(RuntimeError, match="could not be found"):
        ours.saved_model.load(folder, tags=["train"])
    assert set(vars(ours.saved_model)) >= {"SERVING", "ASSETS_DIRECTORY"}


def test_options(folder):
    options = ours.saved_model.LoadOptions(experimental_skip_checkpoint=True)
    model = ours.saved_model.load(folder, options=options)
    with pytest.raises(NotImplementedError, match="no numbers"):
        model(ours.ones([1, 2]))
    with pytest.raises(NotImplementedError, match="variable_policy"):
        ours.saved_model.LoadOptions(experimental_variable_policy="x")
