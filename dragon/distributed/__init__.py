"""Several processes: where they meet, what they do together, and how they are started."""
from dragon.core.places import look_up

__getattr__, __dir__ = look_up(globals(), {
    "collectives": "all_gather all_reduce all_to_all barrier broadcast gather receive reduce reduce_scatter scatter "
                   "send",
    "errors": "DistributedError StoreError StoreTimeout",
    "gradients": "average means",
    "group": "ProcessGroup default_group",
    "launch": "Launcher RankFailed",
    "work": "Work",
    "meeting": "join_world leave_world world",
})
