"""Memory of the device: segments that grow, pools, settings, and what is remembered of it all."""
import gc
import os
import pickle
import random
import re
import subprocess
import sys

import pytest

from dragon.core import accelerator
from dragon.vm import torch as dt

MEGA = 1 << 20


@pytest.fixture
def growing(device):
    """Segments that grow, and nothing in the cache before and after."""
    dt.cuda.empty_cache()
    dt._C._accelerator_setAllocatorSettings("expandable_segments:True")
    yield device
    dt._C._accelerator_setAllocatorSettings("expandable_segments:False")
    gc.collect()
    dt.cuda.empty_cache()


def take(size, device="cuda"):
    return dt.empty(size, dtype=dt.uint8, device=device)


def grown():
    return [segment for segment in dt.cuda.memory_snapshot() if segment["is_expandable"]]


def test_a_range_grows_and_shrinks(growing):
    held = dt.cuda.memory_reserved()
    first, second, third = take(30 * MEGA), take(30 * MEGA), take(30 * MEGA)
    assert second.data_ptr() - first.data_ptr() == third.data_ptr() - second.data_ptr() == 30 * MEGA
    assert dt.cuda.memory_reserved() - held == 100 * MEGA  # five pages
    assert [segment["total_size"] for segment in grown()] == [100 * MEGA]
    del second
    dt.cuda.empty_cache()  # a page in the middle goes, and the rest of the last one stays with its neighbour
    assert dt.cuda.memory_reserved() - held == 80 * MEGA and len(grown()) == 2
    again = take(30 * MEGA)
    assert again.data_ptr() - first.data_ptr() == 30 * MEGA and dt.cuda.memory_reserved() - held == 100 * MEGA
    del first, again, third
    dt.cuda.empty_cache()
    assert dt.cuda.memory_reserved() == held and not grown()


def test_free_blocks_and_new_pages_make_one(growing):
    """A block that is longer than all that is free needs only the pages that lack."""
    held = dt.cuda.memory_reserved()
    parts = [take(25 * MEGA) for _ in range(4)]
    address = parts[0].data_ptr()
    del parts
    whole = take(130 * MEGA)
    assert whole.data_ptr() == address and dt.cuda.memory_reserved() - held == 140 * MEGA
    small = take(100)  # a page of the range for small blocks, unless another segment has room for it
    assert dt.cuda.memory_reserved() - held in (140 * MEGA, 142 * MEGA) and small.numel() == 100


def test_many_sizes(growing):
    """What is written stays, and the books agree, whatever comes and goes."""
    draw, live = random.Random(0), []
    for step in range(300):
        if live and draw.random() < 0.5:
            block, mark = live.pop(draw.randrange(len(live)))
            assert block[0].item() == block[-1].item() == mark
        else:
            block = take(int(2 ** draw.uniform(3, 25)))
            block[:1] = block[-1:] = step % 251
            live.append((block, step % 251))
        if step % 60 == 0:
            del block
            dt.cuda.empty_cache()
    segments = dt.cuda.memory_snapshot()
    assert sum(segment["total_size"] for segment in segments) == dt.cuda.memory_reserved()
    assert sum(segment["allocated_size"] for segment in segments) == dt.cuda.memory_allocated()
    for block, mark in live:
        assert block[0].item() == block[-1].item() == mark


def test_out_of_memory(growing):
    """What cannot be had whole is not had in part."""
    kept = take(MEGA)
    total = dt.cuda.mem_get_info()[1]
    dt.cuda.set_per_process_memory_fraction((dt.cuda.memory_reserved() + 60 * MEGA) / total)
    try:
        held = take(35 * MEGA)
        reserved = dt.cuda.memory_reserved()
        with pytest.raises(dt.cuda.OutOfMemoryError, match="CUDA out of memory"):
            take(50 * MEGA)
        assert dt.cuda.memory_reserved() == reserved and held.numel() == 35 * MEGA
        del held
        assert take(50 * MEGA).numel() == 50 * MEGA and kept.numel() == MEGA
    finally:
        dt.cuda.set_per_process_memory_fraction(1.0)
    with pytest.raises(dt.cuda.OutOfMemoryError):
        take(total * 4)


def test_streams_have_ranges_of_their_own(growing):
    first = take(5 * MEGA)
    with dt.cuda.stream(dt.cuda.Stream()):
        second = take(5 * MEGA)
    assert {segment["stream"] for segment in grown()} == {0, *[s["stream"] for s in grown() if s["stream"]]}
    assert len(grown()) == 2 and first.data_ptr() != second.data_ptr()


@pytest.mark.parametrize("grows", [False, True])
def test_pools(device, grows):
    dt._C._accelerator_setAllocatorSettings(f"expandable_segments:{grows}")
    try:
        pool = dt.cuda.MemPool()
        with dt.cuda.use_mem_pool(pool):
            inside = take(3 * MEGA)
            assert pool.use_count() == 2
        outside = take(3 * MEGA)
        segments = pool.snapshot()
        assert pool.use_count() == 1 and {segment["segment_pool_id"] for segment in segments} == {pool.id}
        addresses = [block["address"] for segment in segments for block in segment["blocks"]]
        assert inside.data_ptr() in addresses and outside.data_ptr() not in addresses
        address = inside.data_ptr()
        del inside
        dt.cuda.empty_cache()  # the pool keeps its own
        assert take(3 * MEGA).data_ptr() != address
        with dt.cuda.use_mem_pool(pool, device="cuda:0"):
            assert take(3 * MEGA).data_ptr() == address
        identity = pool.id
        del pool
        dt.cuda.empty_cache()
        assert not dt.cuda.memory_snapshot(identity)
    finally:
        dt._C._accelerator_setAllocatorSettings("expandable_segments:False")
    with pytest.raises(NotImplementedError, match="MemPool: got no_split=True"):
        dt.cuda.MemPool(no_split=True)
    with pytest.raises(NotImplementedError, match="MemPool: got allocator="):
        dt.cuda.memory.MemPool(allocator=object())


@pytest.mark.parametrize("text, words", [
    ("expandable_segments:maybe", "Expected 'True' or 'False'"), ("expandable_segments", "a word, a colon and a value"),
    ("nothing:1", "Unrecognized key 'nothing'"), ("roundup_power2_divisions:[256:1", "expected a ] for each"),
])
def test_wrong_settings(text, words):
    with pytest.raises(ValueError, match=words):
        dt._C._accelerator_setAllocatorSettings(text)


def test_settings_that_are_not_done_are_told():
    with pytest.warns(UserWarning, match="got max_split_size_mb:64, which is not done"):
        dt._C._accelerator_setAllocatorSettings("backend:native, max_split_size_mb:64")
    with pytest.warns(FutureWarning), pytest.warns(UserWarning, match="roundup_power2_divisions"):
        dt.cuda.memory._set_allocator_settings("roundup_power2_divisions:[256:1,512:2]")
    assert not accelerator.expands_segments()


def test_settings_of_the_environment(tmp_path):
    code = "from dragon.vm import torch; from dragon.core import accelerator; print(accelerator.expands_segments())"
    for text, answer in (("expandable_segments:True", "True"), ("", "False")):
        ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=100,
                             env={**os.environ, "PYTORCH_CUDA_ALLOC_CONF": text})
        assert ran.stdout.strip() == answer, ran.stderr


def test_history(device, tmp_path):
    memory = dt.cuda.memory
    dt.cuda.empty_cache()
    memory._record_memory_history(max_entries=50, clear_history=True)
    try:
        block = take(7 * MEGA)
        address = block.data_ptr()
        assert memory._allocation_traceback(address)[0]["filename"] == __file__
        found = memory._snapshot()
        blocks = [piece for segment in found["segments"] for piece in segment["blocks"] if piece["address"] == address]
        assert blocks[0]["frames"][0]["name"] == "take" and blocks[0]["frames"][1]["name"] == "test_history"
        del block
        dt.cuda.empty_cache()
        memory._dump_snapshot(tmp_path / "snapshot.pickle")
        with open(tmp_path / "snapshot.pickle", "rb") as file:
            trace = pickle.load(file)["device_traces"][0]
        actions = [entry["action"] for entry in trace if entry.get("addr") == address]
        assert actions == ["segment_alloc", "alloc", "free_requested", "free_completed", "segment_free"]
        assert trace[-1]["action"] == "snapshot" and [entry["time_us"] for entry in trace] == sorted(
            entry["time_us"] for entry in trace)
        with pytest.raises(dt.cuda.OutOfMemoryError):
            take(dt.cuda.mem_get_info()[1] * 2)
        assert "device_free" in memory._snapshot()["device_traces"][0][-2]
        for _ in range(60):
            take(1)
        assert len(memory._snapshot()["device_traces"][0]) == 50
        memory._record_memory_history("state", context=None)
        assert memory._allocation_traceback(take(100).data_ptr()) in (None, [])
    finally:
        memory._record_memory_history(None, clear_history=True)
    take(10)
    assert not memory._snapshot()["device_traces"][0]
    with pytest.raises(RuntimeError, match="expected context to be"):
        memory._record_memory_history(context="nothing")
    with pytest.raises(NotImplementedError, match="compile_context=True"):
        memory._record_memory_history(compile_context=True)


def test_viewers_read_the_history(device):
    """Genuine PyTorch's own viewer takes what is remembered."""
    viewer = pytest.importorskip("torch.cuda._memory_viz")
    memory = dt.cuda.memory
    memory._record_memory_history(clear_history=True)
    try:
        kept = take(MEGA)
        found = memory._snapshot()
    finally:
        memory._record_memory_history(None, clear_history=True)
    assert re.search(r"a = seg_\d+\[\d+:1.0MiB\]", viewer.trace(found)) and viewer.segsum(found)
    assert kept.numel() == MEGA
