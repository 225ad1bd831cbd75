"""`torch.export.exported_program`: a program as a graph, with what it needs to run."""
from dragon.vm.torch.core.exporting.exported import (  # noqa: F401
    CallSpec, ExportedProgram, ModuleCallEntry, ModuleCallSignature)
from dragon.vm.torch.core.exporting.signatures import (  # noqa: F401
    ArgumentSpec, ConstantArgument, CustomObjArgument, ExportGraphSignature, InputKind, InputSpec, OutputKind,
    OutputSpec, SymBoolArgument, SymFloatArgument, SymIntArgument, TensorArgument, TokenArgument)
