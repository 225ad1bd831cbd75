"""Plans that say how modules are cut."""
import fnmatch

from dragon.core import warnings
from dragon.vm.torch.distributed.device_mesh import _mesh_resources
from dragon.vm.torch.distributed.tensor.parallel.style import ParallelStyle


def parallelize_module(module, device_mesh=None, parallelize_plan=None, *, src_data_rank=0):
    """Cut a module, or modules in it, as a plan says.

    Parameters
    ----------
    module : Module
        The module; it is changed.
    device_mesh : DeviceMesh, optional
        The mesh, of one axis; that of the `with` block around without it.
    parallelize_plan : Union[ParallelStyle, Dict[str, ParallelStyle]], optional
        How the module is cut, or how those in it are, by their names, whose parts may have `*`, `?` and `[...]`.
    src_data_rank : int, optional, default=0
        Whose weights all get; None takes of each process's own.

    Returns
    -------
    Module
        The module.

    """
    mesh = device_mesh or _mesh_resources.get_current_mesh()
    if mesh.ndim > 1:
        raise ValueError(f"Tensor Parallel only accepts a 1D DeviceMesh, but found {mesh.ndim}D! Slice the mesh by the "
                         "name of an axis, as in mesh['tp'].")
    if parallelize_plan is None:
        warnings.warn("No parallelize_plan is provided and auto-parallel is not supported at the moment, so this "
                      "parallelize_module call will do nothing.")
        return module
    if isinstance(parallelize_plan, ParallelStyle):
        parallelize_plan.src_data_rank = src_data_rank
        return parallelize_plan._apply(module, mesh)
    if not isinstance(parallelize_plan, dict):
        raise TypeError("Expect Union[ParallelStyle, Dict[str, ParallelStyle]] for parallelize_plan, "
                        f"{type(parallelize_plan)} found!")
    for path, style in parallelize_plan.items():
        if path == "":
            parallelize_module(module, mesh, style, src_data_rank=src_data_rank)
            continue
        first, _, rest = path.partition(".")
        found = [child for name, child in module.named_children() if fnmatch.fnmatch(name, first)]
        if not found:
            warnings.warn(f"Parallelize plan key '{path}' could not be resolved: no submodule matching token "
                          f"'{first}' in module {type(module).__name__}, skipping this plan entry.")
        for child in found:
            parallelize_module(child, mesh, {rest: style} if rest else style, src_data_rank=src_data_rank)
    return module
