"""Functions of PyTorch's tensors as operators of a pipeline."""
from dragon.vm.dali.core.graph import call as _call
from dragon.vm.dali.core.refusals import got as _got


def torch_python_function(*inputs, function, num_outputs=1, batch_processing=False, output_layouts=None, **arguments):
    """Call a function of the program's own with each sample's arrays as tensors.

    Parameters
    ----------
    inputs : DataNode
        What it is called with.
    function : Callable
        Takes tensors, lists of them with `batch_processing`, and returns as many as `num_outputs` says.
    num_outputs : int, optional, default=1
        How many results it has.
    batch_processing : bool, optional, default=False
        Whether it is called once for a batch.
    output_layouts : Union[str, Sequence[str]], optional
        The layouts of its results.
    arguments : Any
        What all operators take.

    """
    import torch

    def tensor(array):
        return torch.from_numpy(array if array.flags.writeable else array.copy())

    def array(value):
        if isinstance(value, (list, tuple)):
            return [array(one) for one in value]
        if not isinstance(value, torch.Tensor):
            raise TypeError(_got("torch_python_function", type(value).__name__, "a torch.Tensor"))
        return value.detach().cpu().numpy()

    def run(*columns):
        given = [[tensor(one) for one in column] if batch_processing else tensor(column) for column in columns]
        results = function(*given)
        if num_outputs == 0:
            return None
        return tuple(array(one) for one in (results if isinstance(results, tuple) else (results,)))
    return _call("python_function", inputs, {"function": run, "num_outputs": num_outputs, "output_layouts":
                                             output_layouts, "batch_processing": batch_processing, **arguments})
