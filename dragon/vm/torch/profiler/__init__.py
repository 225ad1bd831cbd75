"""Profiles with schedules: `torch.profiler`."""
from dragon.vm.torch.autograd.profiler import kineto_available, record_function  # noqa: F401
from dragon.vm.torch.autograd.profiler_util import DeviceType  # noqa: F401
from dragon.vm.torch.profiler.profiler import (ProfilerAction, ProfilerActivity, profile, schedule,  # noqa: F401
                                               supported_activities, tensorboard_trace_handler)
