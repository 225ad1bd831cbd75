"""`torch.onnx.errors`: what an export that fails raises."""


class OnnxExporterWarning(UserWarning):
    """Something about an export that is worth knowing."""


class OnnxExporterError(RuntimeError):
    """An export that failed."""


class UnsupportedOperatorError(OnnxExporterError):
    """Operators without an ONNX expression, all of them in `operators`."""

    def __init__(self, message, operators=()):
        super().__init__(message)
        self.operators = list(operators)
