"""Types that scripted code is annotated with."""
from typing import Any, Dict, List, Optional, Tuple, Union


Module = Any
BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = List
SUPPORTED = (Any, Dict, List, Optional, Tuple, Union)
