"""The streams, pinned memory, graphs and facts of CUDA devices, as the engine has them."""
from dragon._C import (  # noqa: F401
    borrow_cuda, cuda_index, current_stream, default_stream, device_facts, device_memory, expands_segments,
    device_reaches, hold_pool, is_capturing, is_pinned, lend_memory, let_copies_queue, library_version, memory_retries,
    memory_snapshot, new_pool, new_stream, pin, pinned_stats, record_stream, release_pool,
    set_cuda_index, set_current_stream, set_expands_segments, set_memory_watcher, set_wait_watcher,
    stream_is_done, stream_priority, stream_priority_range, synchronize_stream, use_pool, why_no_cuda,
)
