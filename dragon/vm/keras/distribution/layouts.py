"""How devices are arranged, and along which of them the axes of tensors lie."""
import collections.abc
import math
import re

from dragon.vm.keras.distribution.devices import list_devices
from dragon.vm.shared.letters import expect


class DeviceMesh:
    """Devices, arranged as an array whose axes have names.

    Parameters
    ----------
    shape : Sequence[int]
        The array's shape.
    axis_names : Sequence[str]
        A name for each axis.
    devices : Sequence[str], optional
        The devices; `list_devices()` without them.

    """

    def __init__(self, shape, axis_names, devices=None):
        import numpy

        if not shape or not axis_names:
            raise ValueError("Shape and axis_names cannot be empty. "
                             f"Received: shape={shape}, axis_names={axis_names}")
        if len(shape) != len(axis_names):
            raise ValueError("Shape and axis_names should have same size. "
                             f"Received: shape={shape}, axis_names={axis_names}")
        devices = numpy.array(list_devices() if devices is None else devices)
        if math.prod(shape) != devices.size:
            raise ValueError("Shape does not match the number of devices. "
                             f"Received: shape={shape}; devices.shape={devices.shape}")
        self._shape, self._axis_names, self._devices = shape, axis_names, devices.reshape(shape)

    shape = property(lambda self: self._shape, doc="The array's shape.")
    axis_names = property(lambda self: self._axis_names, doc="A name for each axis.")
    devices = property(lambda self: self._devices, doc="The devices' names as a NumPy array.")

    def __repr__(self):
        return f"<{type(self).__name__} shape={self.shape}, axis_names={self.axis_names}>"


class TensorLayout:
    """The axis of a mesh that each axis of a tensor is cut along.

    Parameters
    ----------
    axes : Sequence[Optional[str]]
        Names of the mesh's axes; None for an axis of the tensor that is not cut.
    device_mesh : DeviceMesh, optional
        The mesh.

    """

    def __init__(self, axes, device_mesh=None):
        if device_mesh is not None:
            expect(device_mesh, DeviceMesh, type(self).__name__, "device_mesh")
        self._axes, self._device_mesh = tuple(axes), device_mesh
        self._check_axes()

    def _check_axes(self):
        """Raise if an axis is not the mesh's."""
        if self._device_mesh:
            known, named = set(self._device_mesh.axis_names), set(self._axes) - {None}
            if named - known:
                raise ValueError(f"Invalid axis names for Layout. Valid axis names: {known}, Got {named}")

    axes = property(lambda self: self._axes, doc="The mesh's axis of each axis.")

    @property
    def device_mesh(self):
        """The mesh; it can be set once."""
        return self._device_mesh

    @device_mesh.setter
    def device_mesh(self, device_mesh):
        if self._device_mesh is not None:
            raise ValueError(f"Cannot override device mesh value. Existing value is {self._device_mesh}")
        self._device_mesh = device_mesh
        self._check_axes()

    def __repr__(self):
        return f"<{type(self).__name__} axes={self.axes}, device_mesh={self.device_mesh}>"


class LayoutMap(collections.abc.MutableMapping):
    """Layouts by the paths of variables; the keys are regular expressions for whole paths.

    Parameters
    ----------
    device_mesh : DeviceMesh
        The mesh of layouts that are given as bare tuples.

    """

    def __init__(self, device_mesh):
        self._layouts, self._device_mesh = {}, device_mesh

    device_mesh = property(lambda self: self._device_mesh, doc="The mesh of layouts that came without one.")

    def __getitem__(self, key):
        """Return the layout of a path, or None."""
        if key in self._layouts:
            return self._layouts[key]
        found = [pattern for pattern in self._layouts if re.fullmatch(pattern, key)]
        if len(found) > 1:
            raise ValueError(f"Path '{key}' matches multiple layout specification keys: a path may match one of them. "
                             f"Received: {found}")
        return self._layouts[found[0]] if found else None

    def __setitem__(self, key, layout):
        if key in self._layouts:
            raise ValueError(f"{key} already exist in the LayoutMap with value {self._layouts[key]}.")
        if isinstance(layout, tuple):
            layout = TensorLayout(layout)
        if not isinstance(layout, TensorLayout):
            raise ValueError(f"{layout} should be a TensorLayout type, got {type(layout)}")
        if layout.device_mesh is None and self._device_mesh is not None:
            layout.device_mesh = self._device_mesh
        self._layouts[key] = layout

    def __delitem__(self, key):
        del self._layouts[key]

    def __len__(self):
        return len(self._layouts)

    def __iter__(self):
        return iter(self._layouts)
