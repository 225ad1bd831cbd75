"""`torch.export.graph_signature`: what the inputs and outputs of a program's graph are."""
from dragon.vm.torch.core.exporting.signatures import (  # noqa: F401
    ArgumentSpec, ConstantArgument, CustomObjArgument, ExportBackwardSignature, ExportGraphSignature, InputKind,
    InputSpec, OutputKind, OutputSpec, SymBoolArgument, SymFloatArgument, SymIntArgument, TensorArgument, TokenArgument)
