"""Rules for where variables and data lie.

A mesh of devices that one was cut into shares that one's memory: whatever the layouts, tensors are whole there, and
each number is computed once, which is what the devices would compute together. Between processes variables are cut.
"""
import contextlib
import types

from dragon.core import config, warnings
from dragon.core.scopes import contextmanager
from dragon.vm.keras.core import global_state
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.distribution.devices import list_devices, local_devices, process_of
from dragon.vm.keras.distribution.grid import Grid, owners_of
from dragon.vm.keras.distribution.layouts import DeviceMesh, LayoutMap, TensorLayout
from dragon.vm.keras.distribution.parts import check_sizes, cut_of
from dragon.vm.shared.letters import expect

CURRENT = "distribution"
BATCH = "batch"


def _the_device(mesh):
    """Return the first device of this process in a mesh, by its name there; all of them must share its memory."""
    devices = [str(device) for device in mesh.devices.flat]
    kinds = {device.split(":")[0] for device in devices}
    for device in devices:
        known = list_devices(device.split(":")[0])
        if device not in known:
            raise ValueError(f"There is no such device. Received: {device!r}, expected one of {known}; "
                             "`tf.config.set_logical_device_configuration` cuts one into several")
    if len(devices) > 1 and (len(kinds) > 1 or "cpu" not in kinds and config.device_count("cuda") > 1):
        raise NotImplementedError("distribution: got devices of different memories, expected one, or those that one "
                                  f"was cut into. Received: {mesh} of devices {devices}")
    here = _process_id()
    own = [place for process, place in map(process_of, devices) if process == here]
    if not own:
        raise ValueError(f"distribution: got {mesh} of devices {devices}, expected one of process {here} among them")
    return own[0]


def _process_id():
    workers = _workers()
    return 0 if workers is None else workers.index


def _workers():
    return global_state.get_global_attribute("distribution_workers")


class Distribution:
    """Base of the rules.

    Parameters
    ----------
    device_mesh : DeviceMesh
        The devices.
    batch_dim_name : str, optional
        The mesh's axis that samples are cut along.

    """

    def __init__(self, device_mesh, batch_dim_name=None, auto_shard_dataset=True):
        self._device_mesh, self._batch_dim_name = device_mesh, batch_dim_name
        self.auto_shard_dataset, self._together, self._grid = auto_shard_dataset, None, None
        if self.num_processes > 1:
            from dragon.vm.keras.distribution.processes import Together
            self._grid = self._check_processes()
            self._together = Together(self, self._grid)

    def _check_processes(self):
        """Return the processes of a mesh that cuts others than samples between them; raise if one has no part."""
        mesh, axes = self.device_mesh, list(self.device_mesh.axis_names)
        who = f"{type(self).__name__}: got a mesh of the devices {mesh.devices.tolist()}"
        if self.batch_dim_name not in axes:
            raise ValueError(f"{who} with the axes {axes}, expected one of them for batch_dim_name. "
                             f"Received: batch_dim_name={self.batch_dim_name!r}")
        batch = axes.index(self.batch_dim_name)
        owners = owners_of(mesh)
        rows = owners.swapaxes(0, batch).reshape(owners.shape[batch], -1)
        if set(owners.flat) != set(range(self.num_processes)):
            raise ValueError(f"{who}, expected devices of all {self.num_processes} processes: {list_devices()}")
        if any(len(set(row)) > 1 for row in rows.tolist()):
            return Grid(mesh)
        if len({sum(row[0] == process for row in rows.tolist()) for process in range(self.num_processes)}) > 1:
            raise ValueError(f"{who}, expected as many of each process")
        return None

    device_mesh = property(lambda self: self._device_mesh, doc="The devices.")
    batch_dim_name = property(lambda self: self._batch_dim_name, doc="The mesh's axis that samples are cut along.")
    num_processes = property(lambda self: 1 if _workers() is None else _workers().size,
                             doc="How many processes there are.")
    process_id = property(lambda self: _process_id(), doc="Which process this is.")

    @property
    def num_model_replicas(self):
        """How many copies of the model there are."""
        raise NotImplementedError(f"num_model_replicas: a subclass has to define it. Received: {self}")

    @property
    def data_shard_id(self):
        """The number of the part of the data that this process takes, alone or with others."""
        return _process_id() if self._grid is None else self._grid.place[self.batch_dim_name]

    @property
    def _shard_count(self):
        return self.num_processes if self._grid is None else self._grid.shape[self.batch_dim_name]

    def get_data_layout(self, data_shape):
        """Return the layout of data: cut along the samples."""
        return TensorLayout((self.batch_dim_name,) + (None,) * (len(data_shape) - 1), self.device_mesh)

    def get_variable_layout(self, variable):
        """Return the layout of a variable: its own, or whole on each device."""
        own = getattr(variable, "_layout", None)
        return TensorLayout((None,) * len(variable.shape), self.device_mesh) if own is None else own

    def _layout_of(self, path, shape, told):
        """Return how a new variable lies over devices, and how it is cut between processes."""
        if isinstance(told, (tuple, list)):
            told = TensorLayout(told)
        if told is not None and expect(told, TensorLayout, "keras.Variable", "layout").device_mesh is None:
            told = TensorLayout(told.axes, self.device_mesh)
        layout = self.get_variable_layout(types.SimpleNamespace(path=path, shape=shape, _layout=told))
        return layout, cut_of(path, shape, layout)

    def get_tensor_layout(self, path):
        """Return the layout of what is computed on the way, or None."""
        return None

    @contextmanager
    def scope(self):
        """Follow the rules within a `with` block."""
        from dragon.vm.keras.core.device import device
        before = distribution()
        spread = contextlib.nullcontext() if self._together is None else self._together.scope()
        with device(_the_device(self.device_mesh)), spread:
            global_state.set_global_attribute(CURRENT, self)
            try:
                yield
            finally:
                global_state.set_global_attribute(CURRENT, before)

    def distribute_dataset(self, dataset):
        """Return this process's part of a dataset of batches: the part of each batch that it takes.

        Parameters
        ----------
        dataset : Dataset
            The batches.

        """
        if self._together is None or not self.auto_shard_dataset:
            return dataset
        from dragon.vm.keras.core import tree
        count, number = self._shard_count, self.data_shard_id
        if any(len(getattr(spec, "shape", ())) == 0 for spec in tree.flatten(dataset.element_spec)):
            raise ValueError("The batch size of the input dataset is unknown. Please config the batch size for the "
                             "input dataset, e.g via `dataset.batch(batch_size)`")

        def part(value):
            size = value.shape[0]
            if size is not None and size % count:
                raise ValueError("Global batch size must be divisible by the number of processes. "
                                 f"`global_batch_size`={size} and `num_processes`={count}")
            return value[number::count] if size is None else value[number * (size // count):(number + 1)
                                                                   * (size // count)]
        return dataset.map(lambda *batch: tree.map_structure(part, batch if len(batch) > 1 else batch[0]))

    def __repr__(self):
        return f"<{type(self).__name__} device_mesh={self.device_mesh}>"


class DataParallel(Distribution):
    """Each device has the whole model and a part of the samples.

    Parameters
    ----------
    device_mesh : DeviceMesh, optional
        The devices, in a mesh of one axis.
    devices : Sequence[str], optional
        The devices, without a mesh; `list_devices()` without both.

    """

    def __init__(self, device_mesh=None, devices=None, auto_shard_dataset=True):
        if device_mesh and not isinstance(device_mesh, DeviceMesh):
            raise ValueError("Expect `mesh` to be an instance of `DeviceMesh`. "
                             f"Received: mesh={device_mesh} (of type {type(device_mesh)})")
        if not device_mesh:
            devices = devices or list_devices()
            device_mesh = DeviceMesh((len(devices),), [BATCH], devices)
        super().__init__(device_mesh, device_mesh.axis_names[0], auto_shard_dataset)
        if device_mesh.devices.ndim != 1:
            warnings.warn("Expect the input mesh to be 1D: the first axis is the samples'. "
                          f"Received: mesh.devices.ndim={device_mesh.devices.ndim}")

    num_model_replicas = property(lambda self: self.device_mesh.devices.size,
                                  doc="How many copies of the model there are.")


class ModelParallel(Distribution):
    """Devices share the model's variables as a map of layouts says.

    Parameters
    ----------
    layout_map : LayoutMap
        The layouts of variables by their paths.
    batch_dim_name : str, optional
        The mesh's axis that samples are cut along; the first without it.

    """

    def __init__(self, *, layout_map=None, batch_dim_name=None, auto_shard_dataset=True, **kwargs):
        kwargs.pop("device_mesh", None)  # it was an argument once; the map's mesh is the one that counts
        if kwargs:
            raise TypeError(f"ModelParallel got unknown arguments. Received: {sorted(kwargs)}")
        if layout_map is None:
            raise ValueError("You must specify a layout_map argument. Received: None")
        if not isinstance(layout_map, LayoutMap):
            raise ValueError("Argument `layout_map` must be a `LayoutMap` instance. "
                             f"Received: layout_map={layout_map}")
        mesh = layout_map.device_mesh
        super().__init__(mesh, batch_dim_name or mesh.axis_names[0], auto_shard_dataset)
        self._layout_map = layout_map

    @property
    def num_model_replicas(self):
        """How many copies of the model there are."""
        return self.device_mesh.shape[list(self.device_mesh.axis_names).index(self.batch_dim_name)]

    def get_variable_layout(self, variable):
        """Return the layout of a variable: its own, its path's, or whole on each device."""
        mapped = self._layout_map[variable.path] if getattr(variable, "_layout", None) is None else None
        return super().get_variable_layout(variable) if mapped is None else mapped

    def get_tensor_layout(self, path):
        """Return the layout of what is computed on the way, by its path, or None."""
        return self._layout_map[path]


def distribution():
    """Return the rules that hold, or None."""
    return global_state.get_global_attribute(CURRENT)


def set_distribution(value):
    """Follow rules from now on.

    Parameters
    ----------
    value : Distribution, optional
        The rules; None for none.

    """
    if value is not None:
        device = _the_device(expect(value, Distribution, "set_distribution", "value").device_mesh)
        if device != local_devices()[0]:
            raise NotImplementedError("set_distribution: a device that is not the default one is used by "
                                      f"`with distribution.scope()` only. Received: {device!r}")
    before = distribution()
    if before is not None and before._together is not None:
        before._together.stop()
    global_state.set_global_attribute(CURRENT, value)
    if value is not None and value._together is not None:
        value._together.use()


def distribute_tensor(tensor, layout):
    """Return a tensor that lies as a layout says.

    Parameters
    ----------
    tensor : Tensor
        The tensor; symbolic ones are returned as they are.
    layout : TensorLayout
        The layout.

    """
    if isinstance(tensor, KerasTensor):
        return tensor
    if expect(layout, TensorLayout, "distribute_tensor", "layout").device_mesh is None:
        raise ValueError(f"Cannot create sharding when device mesh is not set for TensorLayout. Received: {layout}")
    from dragon.vm.keras.core.device import device
    from dragon.vm.shared.arrays.creation import identity
    if any(layout.axes) and len(set(owners_of(layout.device_mesh).flat)) > 1:
        raise NotImplementedError(f"distribute_tensor: got the layout {layout} over several processes, expected one "
                                  "that cuts nothing: tensors are whole in each of them, variables alone are cut")
    check_sizes("distribute_tensor", tuple(tensor.shape), layout)
    with device(_the_device(layout.device_mesh)):
        return identity(tensor)
