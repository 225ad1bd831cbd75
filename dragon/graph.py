"""`dragon.graph`: how functions become graphs, for the whole process."""
from dragon.core.capture.source_lines import user_line  # noqa: F401
from dragon.core.capture.recording import symbol  # noqa: F401
from dragon.core.capture.settings import (CaptureWarning, eager, get_level, is_capturing, set_enabled,  # noqa: F401
                                          set_level)
from dragon.core.passes import optimize, passes  # noqa: F401
