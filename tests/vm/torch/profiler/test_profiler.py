"""Profiles: events with their callers, sums, tables, traces, schedules."""
import gzip
import json
import re

import pytest
import torch

from dragon.vm import torch as dt


def work(T):
    x = T.ones(3, 4, requires_grad=True)
    with T.profiler.record_function("forward"):
        y = (x @ x.permute(1, 0)).sum()
    with T.autograd.profiler.record_function("backward"):
        y.backward()


def test_events():
    with dt.autograd.profiler.profile(record_shapes=True, profile_memory=True) as prof:
        work(dt)
    by_name = {event.name: event for event in prof.function_events}
    assert by_name["aten::matmul"].cpu_parent.name == "autograd::engine::evaluate_function: MatmulBackward0"
    forward = by_name["forward"]
    assert forward.is_user_annotation and "aten::sum" in [child.name for child in forward.cpu_children]
    assert 0 <= forward.self_cpu_time_total <= forward.cpu_time_total
    assert [3, 4] in next(event for event in forward.cpu_children if event.name == "aten::matmul").input_shapes
    sums = {total.key: total for total in prof.key_averages()}
    assert sums["aten::matmul"].count == 3 and sums["forward"].cpu_memory_usage > 0
    assert prof.total_average().count == len(prof.function_events)
    shapes = prof.key_averages(group_by_input_shape=True)
    assert len(shapes) >= len(sums)
    assert prof.self_cpu_time_total > 0


def test_table():
    with dt.profiler.profile(profile_memory=True) as prof:
        work(dt)
    table = prof.key_averages().table(sort_by="cpu_time_total", row_limit=3, header="mine")
    for word in ("Self CPU %", "CPU time avg", "# of Calls", "Self CPU Mem", "Self CPU time total", "mine"):
        assert word in table
    assert len([line for line in table.splitlines() if line.rstrip().endswith("1")]) <= 3
    assert "us" in prof.key_averages().table(time_unit="us")
    assert "aten::matmul" in str(prof.events())


def test_trace(tmp_path):
    with dt.profiler.profile(record_shapes=True) as prof:
        work(dt)
    prof.add_metadata_json("more", "[1]")
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    prof.export_chrome_trace(str(tmp_path / "trace.json.gz"))
    plain = json.loads((tmp_path / "trace.json").read_text())
    with gzip.open(tmp_path / "trace.json.gz", "rt") as file:
        packed = json.load(file)
    assert plain["traceEvents"] == packed["traceEvents"] and plain["more"] == [1]
    event = next(event for event in plain["traceEvents"] if event["name"] == "aten::matmul")
    assert event["ph"] == "X" and event["dur"] > 0 and event["args"]["Input Dims"]


@pytest.mark.parametrize("options", [dict(wait=1, warmup=1, active=2), dict(wait=0, warmup=1, active=1, repeat=2),
                                     dict(wait=2, warmup=1, active=1, skip_first=3, skip_first_wait=1)], ids=str)
def test_schedules(options):
    theirs, mine = torch.profiler.schedule(**options), dt.profiler.schedule(**options)
    assert [theirs(step).name for step in range(15)] == [mine(step).name for step in range(15)]


def rounds(T):
    seen = []
    with T.profiler.profile(activities=[T.profiler.ProfilerActivity.CPU],
                            schedule=T.profiler.schedule(wait=1, warmup=1, active=2, repeat=2),
                            on_trace_ready=lambda prof: seen.append(
                                (prof.step_num, sorted(event.name for event in prof.events()
                                                       if event.name.startswith("ProfilerStep"))))) as prof:
        for _ in range(10):
            T.ones(2).add(1)
            prof.step()
    return seen


def test_rounds():
    assert rounds(dt) == rounds(torch)


def test_steps_of_optimizers():
    param = dt.ones(2, requires_grad=True)
    optimizer = dt.optim.SGD([param])
    param.sum().backward()
    with dt.autograd.profiler.profile() as prof:
        optimizer.step()
    assert "Optimizer.step#SGD.step" in [event.name for event in prof.function_events]


def test_handler(tmp_path):
    with dt.profiler.profile(on_trace_ready=dt.profiler.tensorboard_trace_handler(str(tmp_path), "me")):
        work(dt)
    assert [path.name.startswith("me.") for path in tmp_path.iterdir()] == [True]


def test_marks_and_refusals():
    @dt.profiler.record_function("decorated")
    def call():
        return dt.ones(1)
    assert call().item() == 1
    with dt.autograd.profiler.profile(enabled=False) as prof:
        call()
    assert prof.function_events is None
    with dt.autograd.profiler.profile() as prof:
        call()
        with pytest.raises(RuntimeError):
            with dt.autograd.profiler.profile():
                pass
    assert "decorated" in [event.name for event in prof.function_events]
    for refused in (lambda: dt.profiler.profile(with_flops=True), lambda: dt.autograd.profiler.emit_nvtx().__enter__(),
                    lambda: dt.autograd.profiler.emit_itt().__enter__()):
        with pytest.raises(NotImplementedError):
            refused()
    with pytest.raises(AssertionError, match="must be initialized"):
        dt.profiler.profile().export_stacks("x")
    with pytest.raises(AssertionError):
        dt.profiler.schedule(wait=1, warmup=1, active=0)
    assert dt.profiler.supported_activities() == {dt.profiler.ProfilerActivity.CPU}
    assert dt.profiler.kineto_available()


def run_with_stack(T, path):
    """Write the stacks of a small step; return {stack: how often it stands there}."""
    def inner(x):
        return (x @ x).relu()

    settings = {}
    if T is torch:  # it tells events their stacks only if asked twice
        settings["experimental_config"] = torch._C._profiler._ExperimentalConfig(verbose=True)
    x = T.rand(200, 200, requires_grad=True)
    with T.profiler.profile(with_stack=True, **settings) as prof:
        inner(x).sum().backward()
    prof.export_stacks(str(path))
    with pytest.raises(ValueError, match="metric should be one of"):
        prof.export_stacks(str(path), "flops")
    return path.read_text().splitlines(), prof


@pytest.mark.parametrize("T", [torch, dt], ids=["torch", "dragon"])
def test_stacks(T, tmp_path):
    lines, prof = run_with_stack(T, tmp_path / "stacks.txt")
    assert any(re.search(r"test_profiler\.py\(\d+\):_run_with_stack", one) for one in lines)
    assert all(re.fullmatch(r"\S+ \d+", one) for one in lines)
    assert any("):_inner" in one for one in lines)
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    with T.profiler.profile() as plain:
        T.ones(2) + 1
    with pytest.raises(AssertionError, match="requires with_stack=True"):
        plain.export_stacks(str(tmp_path / "none.txt"))


def test_stretches_as_operators():
    """Programs write them into graphs of their own: torch.ops.profiler."""
    with dt.profiler.profile() as prof:
        handle = dt.ops.profiler._record_function_enter("outer")
        dt.relu(dt.ones(3))
        dt.ops.profiler._record_function_exit(handle)
    assert {"outer", "aten::relu"} <= {event.key for event in prof.key_averages()}
    with pytest.raises(TypeError, match="expected what _record_function_enter returned"):
        dt.ops.profiler._record_function_exit(3)
