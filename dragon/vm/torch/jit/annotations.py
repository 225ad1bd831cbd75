"""Types that scripted code is annotated with."""
from typing import Any, Dict, List, Optional, Tuple, Union

from dragon.vm.torch.core.missing import module_getattr

Module = Any
BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = List
SUPPORTED = (Any, Dict, List, Optional, Tuple, Union)
__getattr__ = module_getattr("torch.jit.annotations", globals())
