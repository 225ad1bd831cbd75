"""Sections, fingerprints, filled rows, patches of volumes, clusters and measurements, beside genuine ones."""
import threading

import pytest

from dragon.vm import tensorflow as ours
from harness import genuine
from harness.expressions import check, evaluate
from harness.subresults import each

EXPRESSIONS = """
tf.fingerprint(["ab", "c", "", "a longer text than sixty-four bytes, which is hashed in another way than short ones"])
tf.fingerprint([[1, 2], [3, 4]])
tf.fingerprint(tf.constant([[["a", "b"]], [["c", ""]]]))
tf.fingerprint(tf.zeros([2, 0]))
tf.fingerprint(tf.zeros([0, 3]))
tf.fingerprint(tf.fill([0, 3], "a"))
tf.fingerprint("a")
tf.fingerprint(["a"], method="x")
tf.ragged_fill_empty_rows(tf.constant([0, 3, 3], tf.int64), [1, 2, 3], 5, 9)
tf.ragged_fill_empty_rows(tf.constant([], tf.int64), tf.constant([], tf.float32), 2, 9.)
tf.ragged_fill_empty_rows(tf.constant([7], tf.int64), [1], 5, 9)
tf.ragged_fill_empty_rows(tf.constant([0, 3], tf.int64), ["a", "b"], 5, "z")
tf.ragged_fill_empty_rows(tf.constant([], tf.int64), tf.constant([], tf.string), 2, "z")
tf.ragged_fill_empty_rows(tf.constant([], tf.int64), tf.constant([], tf.int32), -1, 9)
tf.ragged_fill_empty_rows_grad(tf.constant([0, 3, 4], tf.int64), [1., 2., 3., 4., 5., 6.])
tf.extract_volume_patches(tf.reshape(tf.range(54.), [1, 3, 3, 3, 2]), [1, 2, 2, 2, 1], [1, 1, 1, 1, 1], "VALID")
tf.extract_volume_patches(tf.reshape(tf.range(60.), [1, 3, 4, 5, 1]), [1, 2, 3, 2, 1], [1, 2, 1, 3, 1], "SAME")
tf.extract_volume_patches(tf.zeros([1, 2, 2, 2, 1]), [1, 3, 3, 3, 1], [1, 1, 1, 1, 1], "VALID")
tf.extract_volume_patches(tf.zeros([1, 2, 2, 2]), [1, 3, 3, 3, 1], [1, 1, 1, 1, 1], "VALID")
tf.extract_volume_patches(tf.zeros([1, 2, 2, 2, 1]), [1, 1, 1, 1, 1], [1, 0, 1, 1, 1], "VALID")
tf.extract_volume_patches(tf.zeros([1, 2, 2, 2, 1]), [1, 0, 1, 1, 1], [1, 1, 1, 1, 1], "SAME")
tf.extract_volume_patches(tf.zeros([1, 2, 2, 2, 1]), [1, 1, -1, 1, 1], [1, 1, 1, 1, 1], "SAME")
tf.cast(tf.cast([1., -2.3, 500., 0.001], tf.experimental.float8_e5m2), tf.float32)
tf.cast(tf.cast([1., -2.3, 400., 0.001], tf.experimental.float8_e4m3fn), tf.float32)
tf.cast(tf.cast([448., 464., 465., 500., -500., 1e10, np.inf, np.nan], tf.experimental.float8_e4m3fn), tf.float32)
tf.cast(tf.cast(tf.constant([500., 464.], tf.float64), tf.experimental.float8_e4m3fn), tf.float32)
tf.cast(tf.constant([500., 464.], tf.experimental.float8_e4m3fn), tf.float32)
tf.cast(tf.saturate_cast(tf.constant([500., -500.]), tf.experimental.float8_e4m3fn), tf.float32)
[tf.experimental.float8_e4m3fnuz.name, tf.experimental.float8_e5m2fnuz.size]
tf.CriticalSection().execute(lambda: tf.Variable(1.).assign_add(1.))
tf.CriticalSection().execute(3)
tf.test.is_cpu_target_available("what")
tf.math.softplus(features=[-1., 0., 50.])
tf.math.softsign(features=[-1., 0., 50.])
tf.math.nextafter(x1=[1., 2.], x2=[2., 1.])
tf.math.igamma(a=[1., 2.], x=[0.5, 3.])
tf.math.igammac(a=[1., 2.], x=[0.5, 3.])
tf.math.zeta(x=[2., 3.], q=[1., 2.])
tf.as_dtype(type_value="int8").name
[tf.nest.is_nested(seq=[1]), tf.nest.is_nested(seq=1)]
tf.math.softplus(features=tf.ragged.constant([[1.], [2., 3.]])).values
"""
CLUSTER = 'c = tf.train.ClusterSpec({"worker": ["a:1", "b:2"], "ps": {1: "c:3"}})\n'
CLUSTERS = """
[repr(c), c.as_dict(), c.jobs, c.num_tasks("worker"), c.task_indices("ps"), c.job_tasks("ps"), bool(c), c == c]
[c.task_address("worker", 1), c == tf.train.ClusterSpec(c), c != tf.train.ClusterSpec({"x": []})]
c.task_address("ps", 0)
c.num_tasks("x")
tf.train.ClusterSpec(3)
tf.train.ClusterSpec({"a": 3})
tf.train.ClusterSpec({"a": {"x": "y"}})
tf.train.ClusterSpec({"a": [3]})
bool(tf.train.ClusterSpec({}))
[c == 3, c != None, c == {"ps": {1: "c:3"}}, tf.train.ClusterSpec({"a": ["b"]}) == {"a": {0: "b"}}]
"""


@each("text", EXPRESSIONS.strip().split("\n"))
def test_expression(text):
    check(text)


@each("text", CLUSTERS.strip().split("\n"))
def test_clusters(text):
    check(f"{CLUSTER}return {text}")


@pytest.mark.parametrize("sizes, count", [(None, 2), ([2, 4], 3), ([2, 4], 9)])
def test_batches_of_calls(sizes, count):
    check(f"""
@tf.nondifferentiable_batch_function(1, 4, 0, allowed_batch_sizes={sizes})
def f(x, y): return x * 2. + y
return f(tf.reshape(tf.range({count}. * 2), [{count}, 2]), tf.ones([{count}, 1]))""")


@pytest.mark.parametrize("arguments", [
    "tf.constant(1.0)", "tf.zeros(2), tf.zeros(3)", "tf.constant(['a', 'b', 'c'])"])
def test_batches_of_odd_sizes(arguments):
    check(f"""
@tf.nondifferentiable_batch_function(1, 4, 0, allowed_batch_sizes=[2, 4])
def f(x, *others): return x + x
return f({arguments})""")


def test_a_batch_of_nothing():
    # TensorFlow loses the other axes on this way.
    doubled = ours.nondifferentiable_batch_function(1, 4, 0, allowed_batch_sizes=[2, 4])(lambda x: x * 2)
    assert doubled(ours.zeros((0, 2))).shape == (0, 2)


def test_the_processor_of_this_machine():
    assert any(ours.test.is_cpu_target_available(kind) for kind in ("x86", "aarch64", "arm", "pcc", "systemz"))


def test_scopes_that_change_nothing():
    with ours.experimental.async_scope(), ours.experimental.function_executor_type("SINGLE_THREADED_EXECUTOR"):
        assert ours.ones(2).numpy().tolist() == [1, 1]
    assert ours.experimental.async_clear_error() is None
    with pytest.raises(ValueError, match="expected one of"), ours.experimental.function_executor_type("x"):
        pass


def test_sections_exclude_each_other():
    one, two = (ours.CriticalSection(shared_name="test_last_names") for _ in range(2))
    seen = []

    def count():
        seen.append(len(seen))
        return len(seen)
    threads = [threading.Thread(target=section.execute, args=(count,)) for section in (one, two) * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == list(range(8))
    with pytest.raises(ValueError, match="already running"):
        one.execute(lambda: one.execute(count))
    caught = []

    def within():
        try:
            one.execute(lambda: two.execute(count))
        except ValueError as error:
            caught.append(str(error))
    thread = threading.Thread(target=within, daemon=True)
    thread.start()
    thread.join(10)
    assert len(caught) == 1 and "already running" in caught[0]


def test_a_measurement(capsys, tmp_path, monkeypatch):
    class Mine(ours.test.Benchmark):
        def benchmark_sum(self):
            return self.run_op_benchmark(None, lambda: ours.ones(2) + 1, min_iters=3, extras={"a": 1})

    monkeypatch.setenv("TEST_REPORT_FILE_PREFIX", str(tmp_path / "report."))
    assert ours.test.Benchmark.is_abstract() and not Mine.is_abstract()
    assert Mine().benchmark_sum()["iters"] == 3
    assert '"name": "Mine.benchmark_sum"' in capsys.readouterr().out
    assert '"iters": 3' in (tmp_path / "report.Mine.benchmark_sum").read_text(encoding="utf-8")
    assert Mine().evaluate([ours.ones(2)])[0].tolist() == [1, 1]
    Mine().report_benchmark(iters=1)
    assert '"name": "Mine.report_benchmark"' in capsys.readouterr().out
    with pytest.raises(ValueError, match="a name and a value"):
        Mine().report_benchmark(name="x", metrics=[{"colour": 1}])


def test_tests_that_are_skipped():
    import unittest

    @ours.test.with_eager_op_as_function
    class Case(ours.test.TestCase):
        @ours.test.disable_with_predicate(lambda: True, "not today")
        def test_one(self):
            raise AssertionError("it ran")

        @ours.test.disable_with_predicate(lambda: False, "not today")
        def test_two(self):
            assert True
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(result)
    assert [reason for _, reason in result.skipped] == ["not today"] and result.wasSuccessful()


def test_who_makes_variables():
    check("""
seen = []
def outer(next_creator, **kwargs):
    seen.append(("outer", kwargs["initial_value"]))
    return next_creator(**kwargs)
def inner(next_creator, **kwargs):
    seen.append(("inner", kwargs["initial_value"]))
    kwargs["initial_value"] = 5.
    return next_creator(**kwargs)
with tf.variable_creator_scope(outer):
    with tf.variable_creator_scope(inner): v = tf.Variable(1., name="v")
    w = tf.Variable(2., trainable=False)
x = tf.Variable(3.)
return [v, w, x, v.name, w.trainable, repr(seen)]""")


def test_a_creator_that_fails_is_left():
    def fail(next_creator, **kwargs):
        raise KeyError("no")
    with pytest.raises(KeyError), ours.variable_creator_scope(fail):
        ours.Variable(1.0)
    assert ours.Variable(1.0).numpy() == 1


MODULE = """
m = tf.Module()
m.v, m.n, m.l = tf.Variable(1.), tf.Module(), [tf.Variable(3.)]
m.n.w = tf.Variable(2.)
def kinds(values):
    return [type(value).__name__.replace("Resource", "").replace("Wrapper", "").lower() for value in values]
"""


def test_views_of_objects(tmp_path):
    check(f"""{MODULE}
view = tf.train.TrackableView(m)
return [kinds([view.root]), list(view.children(m)), kinds(view.children(m).values()), kinds(view.descendants())]""")
    for tf in (ours, genuine.tf):
        path = str(tmp_path / tf.__name__)
        found = evaluate(f"""{MODULE}
c = tf.train.Checkpoint(m=m)
view = tf.train.CheckpointView(c.save({path!r}))
del m.n
other = tf.train.Checkpoint(m=m, extra=tf.Variable(0.))
matched, left, new = view.diff(other)
return [sorted(view.children(0)), view.descendants(), sorted(matched), left, len(new), matched[0] is other]""", tf)
        assert not isinstance(found, Exception), found
        assert found[0] == ["m", "save_counter"] and found[1] == list(range(8)) and found[5], found
        assert len(found[2]) + len(found[3]) == 8 and found[4] == 1, found


def test_views_that_are_refused(tmp_path):
    path = ours.train.Checkpoint(v=ours.Variable(1.0)).save(str(tmp_path / "x"))
    with pytest.raises(ValueError, match="Expected a Trackable"):
        ours.train.CheckpointView(path).match(3)
    with pytest.raises(IndexError):
        ours.train.CheckpointView(path).children(99)
    with pytest.raises(ours.errors.NotFoundError):
        ours.train.CheckpointView(str(tmp_path / "nowhere"))


def test_claims_about_types_of_a_user():
    check("""
class Masked(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor
@tf.experimental.dispatch_for_binary_elementwise_assert_apis(Masked, Masked)
def claim(api, x, y):
    return api(tf.boolean_mask(x.values, x.mask), tf.boolean_mask(y.values, y.mask))
a, b = Masked([1., 2., 3.], [True, True, False]), Masked([1., 2., 9.], [True, True, False])
tf.debugging.assert_equal(a, b)
tf.debugging.assert_near(a, b, rtol=1e-3)
tf.debugging.assert_equal(tf.ones(2), 1.)
found = []
try: tf.debugging.assert_less(a, b, message="no")
except tf.errors.InvalidArgumentError: found.append(True)
return found""")
