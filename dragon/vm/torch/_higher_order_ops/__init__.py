"""Branches, loops, maps and scans of functions, under the path that packages import them from."""
from dragon.vm.torch._higher_order_ops.associative_scan import associative_scan  # noqa: F401
from dragon.vm.torch._higher_order_ops.cond import cond  # noqa: F401
from dragon.vm.torch._higher_order_ops.flex_attention import flex_attention  # noqa: F401
from dragon.vm.torch._higher_order_ops.map import map  # noqa: F401
from dragon.vm.torch._higher_order_ops.out_dtype import out_dtype  # noqa: F401
from dragon.vm.torch._higher_order_ops.scan import scan  # noqa: F401
from dragon.vm.torch._higher_order_ops.strict_mode import strict_mode  # noqa: F401
from dragon.vm.torch._higher_order_ops.while_loop import while_loop  # noqa: F401
from dragon.vm.torch._higher_order_ops.wrap import wrap  # noqa: F401
