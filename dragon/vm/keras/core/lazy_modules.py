"""Packages that are imported when they are first asked for something, as `keras.src.utils.module_utils` offers them."""
from dragon.vm.guest import import_or_none


class LazyModule:
    """A package that need not be there.

    Parameters
    ----------
    name : str
        The module.
    pip_name : str, optional
        How it is installed; the module's name by default.
    attribute : str, optional
        The part of it that is meant.
    import_error_msg : str, optional
        What is said where it is missing.

    """

    def __init__(self, name, pip_name=None, import_error_msg=None, attribute=None):
        self.name, self.pip_name, self.attribute = name, pip_name or name, attribute
        self.import_error_msg = import_error_msg or (
            f"This requires the {name} module. You can install it via `pip install {self.pip_name}`")
        self.module, self._available = None, None

    @property
    def available(self):
        """bool: whether the package can be imported."""
        if self._available is None:
            try:
                self.initialize()
                self._available = True
            except ImportError:
                self._available = False
        return self._available

    def initialize(self):
        """Import the package, or say how to get it."""
        self.module = import_or_none(self.name)
        if self.module is None:
            raise ImportError(self.import_error_msg)
        if self.attribute is not None:
            self.module = getattr(self.module, self.attribute)

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__") or name == "_api_export_path":
            raise AttributeError(name)
        if self.module is None:
            self.initialize()
        return getattr(self.module, name)

    def __repr__(self):
        return f"LazyModule({self.name})"


tensorflow, tensorflow_io = LazyModule("tensorflow"), LazyModule("tensorflow_io")
gfile = LazyModule("tensorflow.io.gfile", pip_name="tensorflow")
scipy, jax, h5py, torch_xla, optree, tf2onnx, grain = map(LazyModule, (
    "scipy", "jax", "h5py", "torch_xla", "optree", "tf2onnx", "grain"))
dmtree, torch_data = LazyModule("tree"), LazyModule("torch.utils.data", pip_name="torch")
ocp = LazyModule("orbax.checkpoint", pip_name="orbax-checkpoint", attribute="v1")
litert = LazyModule("ai_edge_litert")
