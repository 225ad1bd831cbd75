"""Which process has which part of a mesh."""
from dragon.vm.keras.core import global_state
from dragon.vm.keras.distribution.devices import process_of


def owners_of(mesh):
    """Return the number of the process that has each device of a mesh, as an array of the same shape."""
    import numpy
    devices = mesh.devices
    return numpy.array([(process_of(str(device)) or (0,))[0] for device in devices.flat]).reshape(devices.shape)


def _without_neighbours(owners, axis):
    """Return owners with one entry for each run of devices along an axis that belong to one process."""
    size = owners.shape[axis]
    for run in range(size, 0, -1):
        first = owners.take(range(0, size, run), axis)
        if size % run == 0 and (first.repeat(run, axis) == owners).all():
            return first
    return owners


class Grid:
    """The processes of a mesh, in an array with the mesh's axes: where this one stands, and whom it meets.

    Parameters
    ----------
    mesh : DeviceMesh
        The mesh. Each process has to have one block of its devices.

    """

    def __init__(self, mesh):
        owners = owners_of(mesh)
        for axis in range(owners.ndim):
            owners = _without_neighbours(owners, axis)
        if len(set(owners.flat)) < owners.size:
            raise NotImplementedError(f"distribution: got a mesh of the devices {mesh.devices.tolist()}, expected one "
                                      "block of it in each process: models are cut between processes along axes")
        self._workers = global_state.get_global_attribute("distribution_workers")
        here = (owners == (0 if self._workers is None else self._workers.index)).nonzero()
        self._owners, self._names = owners, list(mesh.axis_names)
        self.shape = dict(zip(self._names, owners.shape))
        self.place = dict(zip(self._names, (int(number[0]) for number in here)))

    def ranks(self, names):
        """Return the processes that differ from this one in their place along these axes alone, in their order."""
        where = tuple(slice(None) if name in names else self.place[name] for name in self._names)
        return [int(rank) for rank in self._owners[where].flat]

    def group(self, names):
        """Return the group of `ranks`, or None where this process is alone in it."""
        ranks = self.ranks(names)
        return None if len(ranks) == 1 else self._workers.group_of(ranks)

    def place_of(self, rank, name):
        """Return where a process stands along an axis."""
        return int((self._owners == rank).nonzero()[self._names.index(name)][0])
