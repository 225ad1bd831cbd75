"""`tf.profiler.experimental` has the names and arguments of genuine TensorFlow's, and writes a trace of what ran."""
import gzip
import inspect
import json
import threading

import pytest

import dragon
from dragon.vm import tensorflow as tf
from harness import genuine

ours = tf.profiler.experimental


def traces(folder):
    """Return what lies in the traces of a log folder, their slices by category."""
    found = []
    for path in sorted(folder.glob("plugins/profile/*/*.trace.json.gz")):
        slices = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
        assert not slices or min(entry["ts"] for entry in slices) == 0
        found.append({kind: [entry for entry in slices if entry["cat"] == kind]
                      for kind in ("operator", "backward", "python", "trace")})
    return found


def step(number):
    with ours.Trace("train", step_num=number, _r=1) as mark:
        y = tf.matmul(tf.ones((3, 3)), tf.ones((3, 3)))
        mark.set_metadata(loss=float("nan"))
    return y


def test_arguments_are_the_genuine_ones():
    theirs = genuine.tf.profiler.experimental
    for name in ("start", "stop", "Profile", "Trace", "ProfilerOptions", "Trace.set_metadata"):
        told = []
        for room in (ours, theirs):
            for part in name.split("."):
                room = getattr(room, part)
            told.append([(each.name, each.kind, each.default)
                         for each in inspect.signature(room).parameters.values() if each.name != "self"])
        assert told[0] == told[1], name
    assert ours.ProfilerOptions()._asdict() == theirs.ProfilerOptions()._asdict()


def test_a_trace_has_operators_and_marks(tmp_path):
    step(0)  # nobody looks
    ours.start(tmp_path)
    for number in (1, 2):
        step(number)
    ours.stop()
    step(3)
    [found] = traces(tmp_path)
    assert [entry["name"] for entry in found["operator"]].count("matmul") == 2 and not found["python"]
    assert [entry["args"]["step_num"] for entry in found["trace"]] == ["1", "2"]
    assert found["trace"][0]["args"] == {"step_num": "1", "_r": "1", "loss": "nan"}
    product = next(entry for entry in found["operator"] if entry["name"] == "matmul")
    around = found["trace"][0]
    assert around["ts"] <= product["ts"] and product["ts"] + product["dur"] <= around["ts"] + around["dur"]


@pytest.mark.parametrize("options, operators, marks, shapes, lines", [
    ({"host_tracer_level": 0}, False, False, False, False), ({"host_tracer_level": 1}, False, True, False, False),
    ({"host_tracer_level": 3}, True, True, True, False), ({"python_tracer_level": 1}, True, True, False, True),
    ({"delay_ms": 60000}, False, False, False, False), ({"device_tracer_level": 0}, True, True, False, False)])
def test_options_are_heeded(tmp_path, options, operators, marks, shapes, lines):
    with ours.Profile(str(tmp_path), ours.ProfilerOptions(**options)):
        step(1)
    [found] = traces(tmp_path)
    assert (bool(found["operator"]), bool(found["trace"])) == (operators, marks)
    assert any("shapes" in entry["args"] for entry in found["operator"]) == shapes
    assert any(entry["name"].startswith("step (test_profiler.py") for entry in found["python"]) == lines


def test_one_profiler_at_a_time(tmp_path):
    with pytest.raises(tf.errors.UnavailableError, match="No profiler is running"):
        ours.stop()
    with dragon.profile(), pytest.raises(tf.errors.AlreadyExistsError, match="profiled already"):
        ours.start(tmp_path)
    with pytest.raises(TypeError, match="expected ProfilerOptions"):
        ours.start(tmp_path, {"host_tracer_level": 2})
    ours.start(tmp_path)
    told = []

    def elsewhere():
        step(7)
        try:
            ours.stop()
        except tf.errors.UnavailableError as error:
            told.append(str(error))
    try:
        with pytest.raises(tf.errors.AlreadyExistsError, match="Another profiler is running"):
            ours.start(tmp_path)
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        assert "another thread" in told[0]
    finally:
        ours.stop(save=False)
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError), ours.Profile(tmp_path / "file"):
        step(1)
    with ours.Profile(tmp_path):  # a failure to write leaves nothing behind
        pass
    assert len(traces(tmp_path)) == 1
