"""Processes of a program, and where their outputs go."""
from dragon.vm.guest import lookup
from dragon.vm.torch.distributed.elastic.multiprocessing.api import (DefaultLogsSpecs, LogsSpecs,  # noqa: F401
                                                                     SignalException, Std)
from dragon.vm.torch.distributed.elastic.multiprocessing.errors import (ChildFailedError, ProcessFailure,  # noqa: F401
                                                                        record)

__getattr__, __dir__ = lookup(globals())
