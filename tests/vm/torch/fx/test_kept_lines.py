"""Lines of generated code are kept for tracebacks for as long as the code is."""
import gc
import linecache

from dragon.vm import torch


def kept():
    """Return the files of generated code whose lines are kept."""
    return {name for name in linecache.cache if name.startswith("<eval_with_key>")}


def test_lines_go_with_the_module():
    gc.collect()
    before = kept()
    traced = torch.fx.symbolic_trace(torch.nn.ReLU())
    file, = kept() - before
    assert "".join(linecache.getlines(file)).strip() == traced.code.strip()
    traced.recompile()
    gc.collect()
    assert len(kept() - before) == 1  # of the code that it has now
    del traced
    gc.collect()
    assert kept() <= before
