"""`torch.export`: a module's call as a program, a graph of PyTorch's operators that needs no Python."""
from dragon.vm.torch._dynamo.exc import UserError, UserErrorType
from dragon.vm.torch.core.exporting.program import describe_program
from dragon.vm.torch.core.exporting.deserialize import load_program
from dragon.vm.torch.core.exporting.serialize import save_program
from dragon.vm.torch.core.exporting.dims import (  # noqa: F401
    AdditionalInputs, Constraint, Dim, dims, ShapesCollection)
from dragon.vm.torch.core.exporting.exported import (  # noqa: F401
    ExportedProgram, ModuleCallEntry, ModuleCallSignature, program_of)
from dragon.vm.torch.core.exporting.signatures import ExportBackwardSignature, ExportGraphSignature  # noqa: F401
from dragon.vm.torch.export import decomp_utils, passes  # noqa: F401
from dragon.vm.torch.export.decomp_utils import CustomDecompTable  # noqa: F401
from dragon.vm.torch.export.unflatten import FlatArgsAdapter, unflatten, UnflattenedModule  # noqa: F401
from dragon.vm.torch.fx.passes.infra.pass_base import PassResult  # noqa: F401
from dragon.vm.torch.nn.modules.module import Module


def export(mod, args, kwargs=None, *, dynamic_shapes=None, strict=False, preserve_module_call_signature=(),
           prefer_deferred_runtime_asserts_over_guards=False):
    """Return the program that a module's call is.

    The module runs over tensors without numbers, and each of PyTorch's operators that it asks for becomes a node.

    Parameters
    ----------
    mod : Module
        The module.
    args : tuple
        Example arguments.
    kwargs : Optional[dict]
        Example arguments by name.
    dynamic_shapes : Optional[Union[dict, tuple, list, ShapesCollection]]
        Which sizes may differ: by argument, a dict or tuple of `Dim`s for each tensor's axes.
    strict : bool, optional, default=False
        Accepted: programs are listened to either way, and what cannot be followed raises.
    preserve_module_call_signature : Tuple[str, ...], optional
        Names of modules whose calls are kept, for `unflatten`.
    prefer_deferred_runtime_asserts_over_guards : bool, optional, default=False
        Accepted: what was decided by sizes is in the ranges, and checked when the program is called.

    Returns
    -------
    ExportedProgram
        The program.

    Raises
    ------
    UserError
        The program does not leave sizes as free as was said; the letter tells what would do.

    Examples
    --------
    >>> class Line(torch.nn.Module):
    ...     def forward(self, x, slope):
    ...         return torch.relu(x * slope + 1)
    >>> program = torch.export.export(Line(), (torch.ones(2), torch.ones(2)))
    >>> [node.name for node in program.graph.nodes]
    ['x', 'slope', 'mul', 'add', 'relu', 'output']
    >>> program.module()(torch.tensor([1.0, -3.0]), torch.ones(2))
    tensor([2., 0.])

    """
    if not isinstance(mod, Module):
        raise ValueError(f"Expected `mod` to be an instance of `torch.nn.Module`, got {type(mod)}.")
    if hasattr(mod, "original_name") and hasattr(mod, "graph") and hasattr(mod, "code"):
        raise ValueError("Exporting a ScriptModule is not supported; export the module that it was made of")
    if not isinstance(args, tuple):
        raise UserError(UserErrorType.INVALID_INPUT, "Expecting `args` to be a tuple of example positional inputs, got "
                        f"{type(args)}")
    if kwargs is not None and not isinstance(kwargs, dict):
        raise UserError(UserErrorType.INVALID_INPUT, f"Expecting `kwargs` to be a dict, got {type(kwargs)}")
    kwargs = dict(kwargs or {})
    known = {name for name, _ in mod.named_modules()}
    for name in preserve_module_call_signature:
        if name not in known:
            raise ValueError(f"torch.export: got {name!r} in preserve_module_call_signature, expected one of the "
                             f"modules {sorted(known - {''})}")
    described = describe_program(mod, args, kwargs, dynamic_shapes, tuple(preserve_module_call_signature))
    return program_of(mod, described, args, kwargs)


def export_for_training(mod, args, kwargs=None, *, dynamic_shapes=None, strict=False,
                        preserve_module_call_signature=(), prefer_deferred_runtime_asserts_over_guards=False):
    """Return the program that a module's call is; `export` is the same."""
    return export(mod, args, kwargs, dynamic_shapes=dynamic_shapes, strict=strict,
                  preserve_module_call_signature=preserve_module_call_signature)


def draft_export(mod, args, kwargs=None, *, dynamic_shapes=None, preserve_module_call_signature=(), strict=False,
                 prefer_deferred_runtime_asserts_over_guards=False):
    """Return the program that a module's call is; where sizes are not as free as was said, those as they are."""
    try:
        return export(mod, args, kwargs, dynamic_shapes=dynamic_shapes, strict=strict,
                      preserve_module_call_signature=preserve_module_call_signature)
    except UserError as error:
        if error.error_type is not UserErrorType.CONSTRAINT_VIOLATION:
            raise
        return export(mod, args, kwargs, strict=strict, preserve_module_call_signature=preserve_module_call_signature)


def default_decompositions():
    """Return the table of what operators are made of, which `run_decompositions` takes, to be changed.

    Returns
    -------
    CustomDecompTable
        {operator: function of its arguments}.

    """
    return CustomDecompTable()


def save(ep, f, *, extra_files=None, opset_version=None, pickle_protocol=2):
    """Write an exported program into a .pt2 file, which PyTorch reads as well.

    Parameters
    ----------
    ep : ExportedProgram
        The program.
    f : Union[str, os.PathLike, BinaryIO]
        Where.
    extra_files : Optional[Dict[str, Any]]
        Further texts, by name.
    opset_version : Optional[Dict[str, int]]
        The versions of the operators, by namespace.
    pickle_protocol : int, optional, default=2
        Accepted: numbers are written as they are, and the example's arguments as `torch.save` does.

    """
    if not isinstance(ep, ExportedProgram):
        raise TypeError(f"The 'ep' parameter must be an instance of 'ExportedProgram', got '{type(ep).__name__}' "
                        "instead.")
    save_program(ep, f, extra_files, opset_version)


def load(f, *, extra_files=None, expected_opset_version=None):
    """Return the exported program of a .pt2 file, PyTorch's or Dragon's.

    Parameters
    ----------
    f : Union[str, os.PathLike, BinaryIO]
        The file.
    extra_files : Optional[Dict[str, Any]]
        Names of further texts, whose values are filled in.
    expected_opset_version : Optional[Dict[str, int]]
        Accepted: operators are known by their schemas.

    Returns
    -------
    ExportedProgram
        The program. Its `example_inputs` are None where they hold classes that `torch.serialization` does not allow.

    """
    return load_program(f, extra_files, expected_opset_version)


def register_dataclass(cls, *, serialized_type_name=None):
    """Have a dataclass be a container of arguments and results.

    Parameters
    ----------
    cls : type
        The dataclass.
    serialized_type_name : Optional[str]
        What files call it.

    """
    from dragon.vm.torch.utils import _pytree as pytree
    pytree.register_dataclass(cls, serialized_type_name=serialized_type_name)
