"""Functions that write, branch and loop, saved here: genuine TensorFlow goes on with their state."""
import numpy as np
import pytest

from dragon.vm import tensorflow as ours
from harness import genuine

ROWS = [[1.0, 2.0], [3.0, -4.0], [0.5, 0.25]]


class Parts:
    """What the functions below are over, in either framework."""

    def __init__(self, tf):
        self.tf = tf
        self.module = tf.Module()
        self.module.v = self.v = tf.Variable(1.5)
        self.module.w = self.w = tf.Variable([[0.1, 0.2], [0.3, 0.4]])
        self.module.n = self.n = tf.Variable(0, trainable=False)


def branch(p, x):
    if p.tf.reduce_sum(x) > 0:
        y = x * p.v
    else:
        y = -x @ p.w
    return y


def write_in_branch(p, x):
    if x > 0:
        p.n.assign_add(1)
    else:
        p.n.assign_sub(5)
    return p.n.read_value()


def collatz(p, n):
    k = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        k += 1
    return k


def recurrence(p, x):
    h = p.tf.zeros([2])
    for row in x:
        h = p.tf.tanh(row + p.tf.linalg.matvec(p.w, h))
    return h


def arrays(p, x):
    n = p.tf.shape(x)[0]
    found = p.tf.TensorArray(p.tf.float32, size=n)
    for i in p.tf.range(n):
        found = found.write(i, x[i] * p.tf.cast(i, p.tf.float32))
    return found.stack()


def nested(p, x):
    total = 0.0
    for i in p.tf.range(4):
        for j in p.tf.range(i):
            if x[j] > 0:
                total += x[j] * p.tf.cast(i, p.tf.float32)
            else:
                total -= 1.0
    return total


def until(p, x):
    total = 0.0
    for row in x:
        if row > 3.0:
            break
        total += row
    return total


def write_in_loop(p, x):
    for row in x:
        p.v.assign(p.v * 0.5 + row)
    return p.v.read_value()


def count(p, x):
    p.v.assign_add(x)
    p.n.assign_add(1)
    return p.v + x, p.n


def set_row(p, x):
    p.w[0].assign(x)
    return p.w.read_value()


def no_result(p, x):
    p.v.assign(x)


def train(p, x):
    with p.tf.GradientTape() as tape:
        loss = p.tf.reduce_mean((x @ p.w) ** 2)
    p.w.assign_sub(0.1 * tape.gradient(loss, p.w))
    return loss


PROGRAMS = {
    branch: ([None, 2], ROWS, [[-1.0, -2.0]]), write_in_branch: ([], 1.0, -1.0, 2.0), collatz: ([], 7, 1),
    recurrence: ([None, 2], ROWS, ROWS[:1]), arrays: ([None, 2], ROWS, ROWS[:1]), nested: ([4], [1.0, -1.0, 2.0, 3.0]),
    until: ([None], [1.0, 2.0, 5.0, 9.0], [1.0, 1.0]), write_in_loop: ([None], [1.0, 2.0], [3.0]),
    count: ([], 2.0, 3.0), set_row: ([2], [9.0, 8.0]), no_result: ([], 7.0), train: ([None, 2], ROWS, ROWS[:2]),
    lambda p, x: p.tf.map_fn(lambda row: p.tf.nn.softmax(row) * p.v, x): ([None, 2], ROWS, ROWS[:2]),
    lambda p, x: p.tf.scan(lambda a, row: a * 0.5 + row * p.v, x): ([None, 2], ROWS),
    lambda p, x: p.tf.foldl(lambda a, row: a * 0.5 + row, x): ([None, 2], ROWS),
    lambda p, x: p.tf.cond(x > 0, lambda: x * p.v, lambda: x - 1): ([], 1.0, -1.0),
    lambda p, x: p.tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a * p.v), [0, x]): ([2], ROWS[0]),
    lambda p, x: p.tf.switch_case(p.tf.cast(x, p.tf.int32), [lambda: x * 1, lambda: x * 10]): ([], 0.0, 1.0)}


def make(function, shape, dtype):
    """Return the parts of a program of Dragon's, whose `f` is the function."""
    parts = Parts(ours)

    def call(x):
        return function(parts, x)
    parts.module.f = ours.function(call, input_signature=[ours.TensorSpec(shape, dtype)])
    return parts


@pytest.mark.parametrize("place", range(len(PROGRAMS)))
def test_programs(tmp_path, place):
    function, (shape, *calls) = list(PROGRAMS.items())[place]
    dtype = "int32" if function is collatz else "float32"
    parts = make(function, shape, dtype)
    before = [one.numpy().tolist() for one in (parts.v, parts.w, parts.n)]
    ours.saved_model.save(parts.module, str(tmp_path / "program"), signatures=parts.module.f)
    assert [one.numpy().tolist() for one in (parts.v, parts.w, parts.n)] == before
    reference = Parts(genuine.tf)
    theirs, again = (tf.saved_model.load(str(tmp_path / "program")) for tf in (genuine.tf, ours))
    for given in calls:
        expected, slopes = run(genuine.tf, lambda x: function(reference, x), [reference.v, reference.w], given, dtype)
        for tf, one in ((genuine.tf, theirs), (ours, again)):
            found, others = run(tf, one.f, [one.v, one.w], given, dtype)
            for value, other in zip(expected, found, strict=True):
                assert value.dtype == other.dtype
                np.testing.assert_allclose(other, value, rtol=1e-5, atol=1e-6)
            for value, other in zip(slopes, others):
                np.testing.assert_allclose(other, value, rtol=1e-5, atol=1e-6)
            for name in ("v", "w", "n"):
                np.testing.assert_allclose(getattr(one, name).numpy(), getattr(reference, name).numpy(), rtol=1e-6)


def run(tf, function, variables, given, dtype):
    """Return the results of a call as arrays, and the gradients of their sum; 0 where there are none."""
    with tf.GradientTape() as tape:
        results = tf.nest.flatten(tf.function(function)(tf.constant(given, dtype)))
        results = [one for one in results if one is not None]
        total = sum(tf.reduce_sum(one) for one in results if one.dtype.is_floating)
    slopes = [None, None] if isinstance(total, int) else tape.gradient(total, variables)
    arrays = [np.asarray(one) for one in results]
    return arrays, [np.zeros(()) if slope is None else np.asarray(slope) for slope in slopes]


def test_state_goes_on_by_signatures(tmp_path):
    parts = make(count, [], "float32")
    parts.v.assign(4.0)
    ours.saved_model.save(parts.module, str(tmp_path / "program"), signatures={"count": parts.module.f})
    loaded = genuine.tf.saved_model.load(str(tmp_path / "program"))
    call = loaded.signatures["count"]
    assert sorted(call.structured_outputs) == ["output_0", "output_1"]
    for step in (1, 2, 3):
        assert call(x=genuine.tf.constant(1.0))["output_1"].numpy() == step
    assert loaded.v.numpy() == 7.0


def tell(tf, v):
    """Return a function that prints and checks."""
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def told(x):
        tf.print("x {} is", x, [x * 2, 3], {"b": x[0], "a": v})
        tf.debugging.assert_positive(x, "not at all")
        tf.print("sum", tf.reduce_sum(x), sep=":", end="|")
        v.assign_add(1.0)
        tf.debugging.assert_less(x, v * 5)
        return x
    return told


def test_prints_and_checks(tmp_path, capfd):
    parts, reference = Parts(ours), Parts(genuine.tf)
    parts.module.f = tell(ours, parts.v)
    expected = tell(genuine.tf, reference.v)
    capfd.readouterr()  # what TensorFlow says when it is first used
    ours.saved_model.save(parts.module, str(tmp_path / "program"))
    assert capfd.readouterr() == ("", "")
    loaded, again = (tf.saved_model.load(str(tmp_path / "program")) for tf in (genuine.tf, ours))
    told = []
    for tf, function in ((genuine.tf, expected), (genuine.tf, loaded.f), (ours, again.f), (ours, parts.module.f)):
        function(tf.constant([1.0, 2.0]))
        told.append(capfd.readouterr().err)
        for wrong, words in (([-1.0], "not at all"), ([99.0], "x < y")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                function(tf.constant(wrong))
        capfd.readouterr()
    assert told[0].startswith("x {} is [1 2] ") and told[1:] == told[:1] * 3


def tell_within(tf, v):
    """Return a function that prints and checks in branches and loops, some of which do nothing else."""
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def told(x):
        tf.print("begin", v)
        total = 0.0
        for row in x:
            if row > 2.0:
                tf.print("big", row)
            else:
                tf.debugging.assert_positive(row, "not at all")
            total += row
        for i in tf.range(2):
            tf.print("round", i)
        i = 0
        while tf.cast(i, tf.float32) < total:
            i += 5
            tf.print(i, end=" ")
        if total > 100.0:
            tf.print("never")
        tf.print("mapped", tf.map_fn(lambda row: twice(tf, row), x))
        v.assign_add(total)
        return total
    return told


def twice(tf, row):
    tf.print("row", row)
    return row * 2.0


def test_prints_within_branches_and_loops(tmp_path, capfd):
    parts, reference = Parts(ours), Parts(genuine.tf)
    parts.module.f = tell_within(ours, parts.v)
    expected = tell_within(genuine.tf, reference.v)
    ours.saved_model.save(parts.module, str(tmp_path / "program"))
    loaded, again = (tf.saved_model.load(str(tmp_path / "program")) for tf in (genuine.tf, ours))
    told = []
    for tf, function, v in ((genuine.tf, expected, reference.v), (genuine.tf, loaded.f, loaded.v),
                            (ours, again.f, again.v)):
        assert function(tf.constant([1.0, 3.0, 9.0])).numpy() == 13.0 and v.numpy() == 14.5
        told.append(capfd.readouterr().err)
        with pytest.raises(tf.errors.InvalidArgumentError, match="not at all"):
            function(tf.constant([3.0, -1.0]))
        assert v.numpy() == 14.5  # nothing is written after a check that fails
        capfd.readouterr()
    assert "round 1" in told[0] and told[1:] == told[:1] * 2


def test_python_is_refused(tmp_path):
    module = ours.Module()
    module.f = ours.function(lambda x: ours.py_function(print, [x], []), input_signature=[ours.TensorSpec([None])])
    with pytest.raises(NotImplementedError, match="calls Python"):
        ours.saved_model.save(module, str(tmp_path / "program"))
