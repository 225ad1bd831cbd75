"""Branches and loops over tensors within `tf.function`: results, errors and side effects beside genuine TensorFlow."""
import numpy
import pytest
from harness.autograph_errors import ERRORS, MORE
from harness.autograph_programs import RESULTS
from harness.expressions import check, evaluate, plain
from harness.subresults import each

from dragon.vm import tensorflow as tf
from dragon.vm.shared.recording import function

# What runs as plain Python, and a word of the reason.
PYTHON = {"tensor arrays that grow": "may grow", "shape invariants": "another shape in each round",
          "datasets": "goes through a", "datasets with break": "goes through a",
          "datasets made within": "goes through a"}


@pytest.fixture
def reasons(monkeypatch):
    """Return a list of why calls were no graphs."""
    found = []
    before = function._Graphs._give_up

    def give_up(self, recording, reason):
        found.append(reason)
        return before(self, recording, reason)
    monkeypatch.setattr(function._Graphs, "_give_up", give_up)
    return found


@pytest.mark.parametrize("name", RESULTS)
def test_results(name, reasons):
    check(RESULTS[name])
    if name in PYTHON:
        assert any(PYTHON[name] in reason for reason in reasons), reasons
    else:
        assert not reasons


@each("name", ERRORS)
def test_errors(name):
    check(ERRORS[name])


@pytest.mark.parametrize("name", MORE)
def test_more_than_tensorflow(name, reasons):
    found = plain(evaluate(MORE[name], tf))
    assert not reasons
    tf.config.run_functions_eagerly(True)
    try:
        for one, other in zip(numpy.atleast_1d(found), numpy.atleast_1d(plain(evaluate(MORE[name], tf))), strict=True):
            numpy.testing.assert_array_equal(one, other)
    finally:
        tf.config.run_functions_eagerly(False)


@tf.function
def without_a_value(x):
    if x > 0:
        y = 1
    return y


def test_errors_name_the_user_s_line():
    with pytest.raises(ValueError, match="'y' must also be initialized in the else branch") as caught:
        without_a_value(tf.constant(1))
    lines = [entry for entry in caught.traceback if str(entry.path) == __file__]
    assert str(lines[-1].statement).strip().startswith("if x > 0")


def test_prints_and_checks_whenever_the_graph_runs(capsys, reasons):
    @tf.function
    def count(n):
        for i in tf.range(n):
            if i % 2 == 0:
                tf.print("even", i)
            else:
                tf.print("odd", i, [i, {"a": i * 2}])
        tf.print("end")
    count(tf.constant(2))
    count(tf.constant(3))
    assert capsys.readouterr().err == ("even 0\nodd 1 [1, {'a': 2}]\nend\neven 0\nodd 1 [1, {'a': 2}]\neven 2\nend\n")
    assert count.experimental_get_tracing_count() == 1 and not reasons

    @tf.function
    def checked(x):
        tf.debugging.assert_less(x, 3, message="too much")
        return x * 2
    assert int(checked(tf.constant(1))) == 2
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="too much"):
            checked(tf.constant(5))
    assert int(checked(tf.constant(2))) == 4 and not reasons


def test_prints_in_the_order_of_writes(capsys):
    v = tf.Variable(1)

    @tf.function
    def step(x):
        tf.print(v)
        v.assign_add(x)
        tf.print(v)
    step(tf.constant(1))
    step(tf.constant(5))
    assert capsys.readouterr().err.split() == ["1", "2", "2", "7"]


def test_tensors_of_a_trace_are_shown_without_numbers(capsys):
    @tf.function
    def f(x):
        print("tracing", x, repr(x), f"{x}")
        return x
    f(tf.constant([1, 2]))
    f(tf.constant([3, 4]))
    shown = 'Tensor("x:0", shape=(2,), dtype=int32)'
    assert capsys.readouterr().out == f"tracing {shown} <tf.Tensor 'x:0' shape=(2,) dtype=int32> {shown}\n"
    assert f.fallback is None


def test_sources():
    def f(x):
        if x > 0:
            x = x * x
        return x
    assert "ag__.if_stmt" in tf.autograph.to_code(f) and "ag__.if_stmt" in tf.autograph.to_code(tf.function(f))
    with pytest.raises(ValueError, match="written in Python"):
        tf.autograph.to_graph(print)
    with pytest.raises(ValueError, match="not written in Python"):
        tf.autograph.to_code(print)


def test_functions_without_a_source_say_so_and_run_as_they_are(caplog):
    names = {}
    exec(compile("def g(x):\n    return x + 1", "<nowhere>", "exec"), names)
    g = names["g"]
    assert int(tf.function(lambda x: g(x))(tf.constant(1))) == 2
    assert "could not transform" in caplog.text and "do_not_convert" in caplog.text


def test_a_branch_that_is_no_graph_says_why():
    @tf.function
    def f(x):
        if tf.reduce_sum(x) > 0:
            y = x
        else:
            y = tf.concat([x, x], 0)
        return y
    for numbers in ([1.0], [-1.0], [2.0]):
        found = f(tf.constant(numbers))
        assert found.shape[0] == (1 if numbers[0] > 0 else 2)
    assert "(2,)" in f.fallback and "(1,)" in f.fallback


def test_options_and_verbosity():
    with pytest.raises(ValueError, match="Feature"):
        tf.function(lambda x: x, experimental_autograph_options="LISTS")
    feature = tf.autograph.experimental.Feature
    assert feature.LISTS in feature.all() and feature.LISTS not in feature.all_but(feature.LISTS)
    tf.autograph.set_verbosity(0)
    assert tf.autograph.experimental.set_loop_options(maximum_iterations=3) is None
