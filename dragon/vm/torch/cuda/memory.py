"""Memory of CUDA devices."""
from dragon.vm.torch.cuda import (caching_allocator_alloc, caching_allocator_delete, empty_cache, list_gpu_processes,
                                  max_memory_allocated, max_memory_cached, max_memory_reserved, mem_get_info,
                                  memory_allocated, memory_cached, memory_reserved, memory_snapshot, memory_stats,
                                  memory_summary, reset_max_memory_allocated, reset_max_memory_cached,
                                  reset_peak_memory_stats, set_per_process_memory_fraction)
