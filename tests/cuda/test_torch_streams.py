"""Streams, events, waits that are told, and what graphs say where nothing can be noted down."""
import os
import subprocess
import sys
import warnings

import pytest

from dragon.vm import torch as dt


def test_streams(device):
    cuda, x = dt.cuda, dt.ones(4, device="cuda")
    stream, usual = cuda.Stream(), cuda.current_stream()
    assert usual == cuda.default_stream() != stream and hash(stream) == hash(cuda.ExternalStream(stream.cuda_stream))
    with cuda.stream(stream):
        assert cuda.current_stream() == stream
        y = x * 2
        with cuda.stream(None):
            assert cuda.current_stream() == stream
    assert cuda.current_stream() == usual
    usual.wait_stream(stream)
    y.record_stream(usual)
    assert (y + 1).tolist() == [3] * 4 and stream.query() and stream.device == x.device
    stream.synchronize()
    with stream as same:
        assert cuda.current_stream() == same
    cuda.set_stream(stream)
    cuda.set_stream(usual)
    assert cuda.current_stream() == usual


def test_memory_belongs_to_its_stream(device):
    stream = dt.cuda.Stream()
    dt.empty(300, device="cuda")  # leaves a block to the default stream
    with dt.cuda.stream(stream):
        mine = dt.empty(300, device="cuda")
        place = mine.data_ptr()
        del mine
    other = dt.empty(300, device="cuda")
    assert other.data_ptr() != place
    with dt.cuda.stream(stream):
        assert dt.empty(300, device="cuda").data_ptr() == place
        lent = dt.empty(700000, device="cuda")
    lent.record_stream(dt.cuda.current_stream())
    del lent
    assert (dt.ones(2, device="cuda") + 1).tolist() == [2, 2]


def test_events(device):
    start, end = dt.cuda.Event(enable_timing=True), dt.cuda.Event(enable_timing=True)
    assert start.query() and start.device is None and repr(start) == "<torch.cuda.Event uninitialized>"
    start.record()
    dt.ones(100, device="cuda") * 2
    dt.cuda.current_stream().record_event(end)
    end.synchronize()
    assert 0 <= start.elapsed_time(end) < 1e4 and end.device == dt.device("cuda", 0)
    end.wait(dt.cuda.Stream())
    with pytest.raises(ValueError, match="enable_timing=True"):
        start.elapsed_time(dt.cuda.Event())
    with pytest.raises(NotImplementedError, match="external=True"):
        dt.cuda.Event(external=True)
    with pytest.raises(RuntimeError, match="interprocess=True and enable_timing=True"):
        dt.cuda.Event(enable_timing=True, interprocess=True)


def test_waits_are_told(device):
    x = dt.ones(3, device="cuda")
    try:
        dt.cuda.set_sync_debug_mode("error")
        assert dt.cuda.get_sync_debug_mode() == 2
        with pytest.raises(RuntimeError, match=r"called a synchronizing CUDA operation: .*test_torch_streams.py"):
            x.sum().item()
        y = x + 1  # waits for nothing
        dt.cuda.set_sync_debug_mode("warn")
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            assert y.tolist() == [2, 2, 2]
        assert [warning.filename for warning in told] == [__file__]
        with pytest.raises(RuntimeError, match="expected one of `default`, `warn`, `error`"):
            dt.cuda.set_sync_debug_mode("loud")
    finally:
        dt.cuda.set_sync_debug_mode("default")


def test_graphs(device, simt):
    graph, x = dt.cuda.CUDAGraph(), dt.ones(3, device="cuda")
    with pytest.raises(RuntimeError, match="captured on a non-default stream"):
        graph.capture_begin()
    if simt:
        with pytest.raises(RuntimeError, match="a device whose work is done at once"):
            with dt.cuda.graph(graph):
                x + 1
        assert dt.cuda.current_stream() == dt.cuda.default_stream() and not dt.cuda.is_current_stream_capturing()
        return
    with dt.cuda.graph(graph):
        y = x * 2 + 1
    x.fill_(4)
    graph.replay()
    assert y.tolist() == [9, 9, 9]


def test_graphed_callables(device, monkeypatch):
    """The backward pass and the places of arguments; where nothing can be noted down, what ran stands for the graph."""
    from dragon.vm.torch.cuda import graphed

    class Ran:
        """A graph that does nothing when it is replayed."""

        replays = 0

        def replay(self):
            Ran.replays += 1

    class Running:
        def __init__(self, *args, **kwargs):
            pass

        __enter__ = __exit__ = lambda self, *args: None

    if dt.cuda.get_device_name() == "a machine of fibres":
        monkeypatch.setattr(graphed, "CUDAGraph", Ran)
        monkeypatch.setattr(graphed, "graph", Running)
    x = dt.arange(3.0, device="cuda", requires_grad=True)
    square = dt.cuda.make_graphed_callables(lambda x: x * x, (x,))
    y = square(x)
    assert y.tolist() == [0, 1, 4] and y.requires_grad
    y.sum().backward()
    assert x.grad is not None and x.grad.shape == x.shape


def test_a_debugging_allocator_keeps_nothing(device, tmp_path):
    """Tools that watch a device's memory see every block, of just its size."""
    program = """
import os
import dragon
from dragon.vm import torch
if os.environ.get("DRAGON_SIMT"):
    dragon.load_library(os.environ["DRAGON_SIMT"])
x = torch.ones(3, device="cuda")
print(torch.cuda.memory_allocated(), torch.cuda.memory_reserved())
y = torch.ones(1000, device="cuda") + 1
del x, y
print(torch.cuda.memory_reserved(), torch.cuda.max_memory_allocated())
"""
    told = subprocess.run([sys.executable, "-c", program], env=dict(os.environ, DRAGON_ALLOCATOR="naive"), text=True,
                          capture_output=True, check=True, timeout=100, cwd=tmp_path).stdout.split()
    assert told == ["12", "12", "0", "8012"]
