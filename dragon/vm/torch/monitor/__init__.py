"""Counters of a process, which Dragon does not keep (yet): `torch.monitor`."""
from dragon.vm.torch.core.absent import fill

fill(globals(), "monitor", ["Aggregation*", "Stat*", "Event*", "EventHandlerHandle*", "log_event",
                            "register_event_handler", "unregister_event_handler", "TensorboardEventHandler*"])
