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


def test_waits_of_operators_are_told(device):
    """Whatever the host must know before it goes on is told with the operator's name, at the program's line."""
    cuda = dt.cuda
    x = dt.tensor([3.0, 0.0, 1.0, 3.0], device="cuda")
    rows = dt.tensor([[1.0, 0.0], [0.0, 2.0]], device="cuda").to_sparse_csr()
    whole = dt.tensor([1, 0, 2], device="cuda")
    name_of_file = "test_torch_streams.py"
    calls = {"unique": lambda: dt.unique(x), "count_marked": lambda: dt.nonzero(x),
             "index_range": lambda: dt.bincount(whole), "rows_product": lambda: rows @ rows,
             "cholesky": lambda: dt.linalg.cholesky(dt.eye(2, device="cuda"))}
    try:
        for name, call in calls.items():
            cuda.set_sync_debug_mode("default")
            call()
            cuda.set_sync_debug_mode("error")
            with pytest.raises(RuntimeError, match=rf"a synchronizing CUDA operation: .*{name}.* at .*{name_of_file}"):
                call()
            cuda.set_sync_debug_mode("warn")
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                call()
            assert told and {warning.filename for warning in told} == {__file__}, name
    finally:
        cuda.set_sync_debug_mode("default")


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
