"""torch.utils: timing statements, and what a report of a fault tells."""
from dragon.vm import torch as dt


def test_timer():
    found = dt.utils.benchmark.Timer("x + 1", globals={"x": dt.ones(2)}, label="sum").blocked_autorange(
        min_run_time=0.002)
    assert 0 < found.median < 0.1 and "sum" in repr(found) and found.iqr >= 0
    assert dt.utils.benchmark.Timer("pass").timeit(10).number_per_run == 10
    assert "CUDA" in dt.utils.collect_env.get_pretty_env_info()
