"""`torch.onnx`: modules and functions as ONNX models, under PyTorch's arguments; the work is `dragon.onnx`'s."""
import contextlib
import enum

from dragon.core import warnings
from dragon.core.capture.settings import is_exporting
from dragon.core.scopes import contextmanager
from dragon.vm.torch.core.exporting.dynamic_shapes import shapes_of
from dragon.vm.torch.core.exporting.tracing_state import current_tracer
from dragon.vm.torch.export import ExportedProgram, export as torch_export
from dragon.vm.torch.jit._trace import Tracing
from dragon.vm.torch.onnx import errors
from dragon.vm.torch.onnx.errors import OnnxExporterError, UnsupportedOperatorError
from dragon.vm.torch.onnx.program import ONNXProgram

producer_name, producer_version = "pytorch", "2.13.0"


class TrainingMode(enum.IntEnum):
    """In which mode a module is exported."""

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


class OperatorExportTypes(enum.IntEnum):
    """The operators that a model is made of; ONNX's own only."""

    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3


def is_in_onnx_export():
    """Return whether the calling code runs because a model is being exported.

    Returns
    -------
    bool
        True inside of `export`.

    """
    return is_exporting() and current_tracer() is None  # `torch.export` listens


@contextmanager
def select_model_mode_for_export(model, mode):
    """Put a module into a mode while it is exported.

    Parameters
    ----------
    model : torch.nn.Module
        The module.
    mode : TrainingMode
        PRESERVE leaves it as it is.

    """
    train = getattr(model, "train", None)
    if mode == TrainingMode.PRESERVE or not callable(train):
        yield
        return
    modes = [(part, part.training) for part in model.modules()]
    train(mode == TrainingMode.TRAINING)
    try:
        yield
    finally:
        for part, training in modes:
            part.training = training


def refuse(options):
    """Raise for the first option that was asked for and is not there."""
    for name, value in options.items():
        if value:
            raise NotImplementedError(f"torch.onnx.export: got {name}={value!r}; Dragon's exporter has no such option")


def check_equal(program, model, args, kwargs):
    """Raise unless the model gives what the module gives."""
    from dragon.onnx.capture import leaves
    from dragon.vm import torch
    with torch.no_grad():
        wanted = leaves(model(*args, **kwargs))
    for mine, theirs in zip(wanted, program(*args, **kwargs)):
        torch.testing.assert_close(theirs, mine, rtol=1e-3, atol=1e-4, check_dtype=True)


def _parts_of(program, args, kwargs, dynamic_shapes):
    """Return an exported program as a module, with the arguments and dynamic sizes that it was exported with."""
    if not args and not kwargs:
        if program.example_inputs is None:
            raise ValueError("torch.onnx.export: got a program without example_inputs, expected args")
        args, kwargs = program.example_inputs
    if dynamic_shapes is None and program.range_constraints:
        dynamic_shapes = shapes_of(program)
    return program.module(check_guards=False), tuple(args), dict(kwargs or {}), dynamic_shapes


def _program_of(source, args, kwargs, dynamic_shapes):
    """Return the exported program of what became a model."""
    if isinstance(source, ExportedProgram):
        return source
    return torch_export(getattr(source, "_orig_mod", source), args, kwargs, dynamic_shapes=dynamic_shapes)


def export(model, args=(), f=None, *, kwargs=None, verbose=None, input_names=None, output_names=None,
           opset_version=None, dynamo=True, external_data=True, dynamic_shapes=None, custom_translation_table=None,
           report=False, optimize=True, verify=False, profile=False, dump_exported_program=False, artifacts_dir=".",
           export_params=True, keep_initializers_as_inputs=False, dynamic_axes=None, training=TrainingMode.EVAL,
           operator_export_type=OperatorExportTypes.ONNX, do_constant_folding=True, custom_opsets=None,
           export_modules_as_functions=False, autograd_inlining=True):
    """Export a module or function to ONNX.

    Parameters
    ----------
    model : Union[torch.nn.Module, torch.export.ExportedProgram, callable]
        What is exported.
    args : Union[tuple, torch.Tensor], optional, default=()
        Example arguments.
    f : Optional[Union[str, os.PathLike, io.BytesIO]]
        Where the model is saved.
    kwargs : Optional[dict]
        Example arguments by name.
    verbose : Optional[bool]
        Whether the graph is printed.
    input_names, output_names : Optional[Sequence[str]]
        Names in the model, in order.
    opset_version : Optional[int]
        The version of ONNX's operators, 18 to 23; 18 if not given.
    dynamo : bool, optional, default=True
        Whether an `ONNXProgram` is returned; otherwise None, and `training` chooses the module's mode.
    external_data : bool, optional, default=True
        Whether a model too large for one file may keep its numbers beside it.
    dynamic_shapes, dynamic_axes : optional
        Which sizes are known at run time only, by argument or by name.
    verify : bool, optional, default=False
        Whether the model is compared with the module under ONNX Runtime.
    export_params : bool, optional, default=True
        Whether parameters are written into the model; otherwise they are inputs.
    keep_initializers_as_inputs : bool, optional, default=False
        Whether parameters are listed as inputs as well.
    training : TrainingMode, optional, default=EVAL
        Read where `dynamo` is False.

    Returns
    -------
    Optional[ONNXProgram]
        The program. `optimize`, `do_constant_folding` and `autograd_inlining` change nothing: runtimes fold
        constants, and gradients are never exported.

    """
    refuse({"custom_translation_table": custom_translation_table, "report": report, "profile": profile,
            "dump_exported_program": dump_exported_program, "operator_export_type": operator_export_type,
            "custom_opsets": custom_opsets, "export_modules_as_functions": export_modules_as_functions})
    if not dynamo and dynamic_shapes:
        raise ValueError("The exporter only supports dynamic shapes through parameter dynamic_axes when dynamo=False.")
    from dragon import onnx
    args = tuple(args) if isinstance(args, (tuple, list)) else (args,)
    if args and isinstance(args[-1], dict) and kwargs is None:
        args, kwargs = args[:-1], args[-1]
    source = model
    if isinstance(model, ExportedProgram):
        model, args, kwargs, dynamic_shapes = _parts_of(model, args, kwargs, dynamic_shapes)
    model = getattr(model, "_orig_mod", model)  # what `torch.compile` wraps
    mode = TrainingMode.PRESERVE if dynamo else TrainingMode(training)
    if dynamo and getattr(model, "training", False) and "eval" not in vars(model):  # exported ones have no modes
        warnings.warn("torch.onnx.export: the module is in training mode; call `eval()` first for a model that infers")
    try:
        with select_model_mode_for_export(model, mode), contextlib.nullcontext() if dynamo else Tracing():
            proto = onnx.export(model, args, kwargs=kwargs or {}, input_names=input_names, output_names=output_names,
                                dynamic_axes=dynamic_axes, dynamic_shapes=dynamic_shapes, opset=opset_version or 18,
                                embed=export_params)
    except onnx.UnsupportedOperatorError as error:
        raise UnsupportedOperatorError(f"torch.onnx.export: {error}", error.operators) from error
    except onnx.ExportError as error:
        raise OnnxExporterError(f"torch.onnx.export: {error}") from error
    program = ONNXProgram(proto, lambda: _program_of(source, args, kwargs, dynamic_shapes))
    if verbose:
        print(program.text())
    if verify:
        check_equal(program, model, args, kwargs or {})
    if f is not None:
        program.save(f, keep_initializers_as_inputs=keep_initializers_as_inputs,
                     external_data=None if external_data else False)
    return program if dynamo else None
