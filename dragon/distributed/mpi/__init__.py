"""Groups over MPI: processes of one machine or of many, started by `mpirun` or by a batch system."""
from dragon.core.places import look_up

__getattr__, __dir__ = look_up(globals(), {
    "carrier": "Carrier",
    "library": "load",
})
