"""Models whose stages lie in several processes, through which pieces of a batch go one after another."""
from dragon.vm.guest import lookup
from dragon.vm.torch.distributed.pipelining._IR import Pipe, SplitPoint, pipe_split, pipeline  # noqa: F401
from dragon.vm.torch.distributed.pipelining.schedules import (Schedule1F1B, ScheduleDualPipeV,  # noqa: F401
                                                              ScheduleGPipe, ScheduleInterleaved1F1B,
                                                              ScheduleInterleavedZeroBubble, ScheduleLoopedBFS,
                                                              ScheduleZBVZeroBubble, _ScheduleForwardOnly)
from dragon.vm.torch.distributed.pipelining.stage import PipelineStage, build_stage  # noqa: F401

__getattr__, __dir__ = lookup(globals())
