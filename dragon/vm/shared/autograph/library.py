"""What rewritten code calls `ag__`: the functions behind branches, loops, calls and logic."""
import sys

from dragon.vm.shared.autograph import calls
from dragon.vm.shared.autograph.branches import and_, assert_stmt, eq, if_exp, if_stmt, not_, not_eq, or_  # noqa: F401
from dragon.vm.shared.autograph.calls import converted_call, converted_iteration  # noqa: F401
from dragon.vm.shared.autograph.lists import list_append, set_item  # noqa: F401
from dragon.vm.shared.autograph.loops import for_stmt, loop_options, while_stmt  # noqa: F401
from dragon.vm.shared.autograph.undefined import (Undefined, UndefinedReturnValue, entry, ld, ldu,  # noqa: F401
                                                  returned)

calls.library.append(sys.modules[__name__])
