"""The result of `torch.onnx.export`: a model that can be saved and run."""
import os

from dragon.core import files
from dragon.vm import torch


class ONNXProgram:
    """An exported model.

    Parameters
    ----------
    model : onnx.ModelProto
        The model.
    exported_program : Union[ExportedProgram, Callable[[], ExportedProgram]], optional
        The program of PyTorch's operators that the model stands for, or what makes it when it is asked for.

    """

    def __init__(self, model, exported_program=None):
        is_made = exported_program is None or hasattr(exported_program, "graph_signature")
        self.model_proto, self._make_program = model, None if is_made else exported_program
        self._program, self._session = exported_program if is_made else None, None

    @property
    def exported_program(self):
        """Optional[ExportedProgram]: the same in PyTorch's operators, made when it is first asked for."""
        if self._program is None and self._make_program is not None:
            self._program = self._make_program()
        return self._program

    def __repr__(self):
        graph = self.model_proto.graph
        return (f"ONNXProgram({len(graph.node)} nodes, inputs {[item.name for item in graph.input]}, outputs "
                f"{[item.name for item in graph.output]})")

    def __call__(self, *args, **kwargs):
        """Run the model under ONNX Runtime; returns its results as a tuple of tensors."""
        from dragon.onnx.capture import leaves
        from dragon.onnx.errors import load_package
        onnxruntime = load_package("onnxruntime", "pip install onnxruntime")
        if self._session is None:
            self._session = onnxruntime.InferenceSession(self.model_proto.SerializeToString(),
                                                         providers=["CPUExecutionProvider"])
        names = [item.name for item in self._session.get_inputs()]
        tensors = leaves((args, kwargs))
        if len(tensors) < len(names):
            raise ValueError(f"ONNXProgram: got {len(tensors)} tensors; expected {len(names)}: {names}")
        feeds = {name: tensor.detach().numpy() for name, tensor in zip(names, tensors)}
        return tuple(torch.from_numpy(array) for array in self._session.run(None, feeds))

    def text(self):
        """Return the graph as ONNX prints it."""
        import onnx
        return onnx.printer.to_text(self.model_proto.graph)

    def release(self):
        """Give the runtime's session back."""
        self._session = None

    def apply_weights(self, state_dict):
        """Replace the numbers of initializers by those of parameters with the same names.

        Parameters
        ----------
        state_dict : Dict[str, torch.Tensor]
            The new numbers.

        """
        from onnx import numpy_helper

        from dragon.onnx.source import array_of
        for tensor in self.model_proto.graph.initializer:
            if tensor.name in state_dict:
                tensor.CopyFrom(numpy_helper.from_array(array_of(state_dict[tensor.name]), tensor.name))
        self.release()

    def save(self, destination, *, include_initializers=True, keep_initializers_as_inputs=False, external_data=None):
        """Write the model to a file.

        Parameters
        ----------
        destination : Union[str, os.PathLike, io.BytesIO]
            Where to; an open file holds the whole model.
        include_initializers : bool, optional, default=True
            Whether the parameters' numbers are written.
        keep_initializers_as_inputs : bool, optional, default=False
            Whether parameters are listed as inputs too, so that they may be replaced.
        external_data : Optional[bool]
            Whether large tensors go into a file beside it; by itself, only where one file could not hold them. An
            open file has none beside it.

        """
        import onnx

        from dragon.onnx.model import list_initializers, save_beside
        model = onnx.ModelProto.FromString(self.model_proto.SerializeToString())
        if keep_initializers_as_inputs or not include_initializers:
            list_initializers(model, keep=include_initializers)
        if hasattr(destination, "write"):
            if external_data:
                raise ValueError("ONNXProgram.save: got external_data=True with an open file, expected a path, beside "
                                 "which another file can be")
            destination.write(model.SerializeToString())
            return
        destination = os.fspath(destination)
        if external_data or external_data is None and model.ByteSize() > 2 ** 30:
            save_beside(model, destination)
        else:
            files.write(destination, model.SerializeToString())
