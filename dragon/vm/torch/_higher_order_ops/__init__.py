"""Branches, loops, maps and scans of functions, under the path that packages import them from."""
from dragon.vm.torch.core.functions.control import associative_scan, cond, map, scan, while_loop  # noqa: F401
