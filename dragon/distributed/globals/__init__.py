"""Global tensors: one tensor over a mesh of processes, of which each holds what a signature says."""
from dragon.core.places import look_up

__getattr__, __dir__ = look_up(globals(), {
    "boxing": "box plan",
    "choosing": "choose",
    "layout": "Layout",
    "mesh": "Mesh",
    "signatures": "Broadcast Partial Split",
})
