"""Counters of a process, which Dragon does not keep (yet): `torch.monitor`."""
from dragon.vm.torch.core.absent import fill
from dragon.vm.torch.core.missing import module_getattr

fill(globals(), "monitor", ["Aggregation*", "Stat*", "Event*", "EventHandlerHandle*", "log_event",
                            "register_event_handler", "unregister_event_handler", "TensorboardEventHandler*"])


__getattr__ = module_getattr("torch.monitor", globals())
