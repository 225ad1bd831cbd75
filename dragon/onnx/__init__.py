"""Models out: what the engine captured, as ONNX. `dragon.onnx.export(function, args, path)`."""
from dragon.onnx.errors import ExportError, HardCodedError, UnsupportedOperatorError
from dragon.onnx.export import export

EXPORTED = (ExportError, HardCodedError, UnsupportedOperatorError, export)
