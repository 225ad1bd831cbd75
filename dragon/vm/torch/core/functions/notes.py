"""Words and small functions that libraries take from `torch.nn.functional` and `torch.linalg` for their own layers."""
GRID_SAMPLE_INTERPOLATION_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES = {"zeros": 0, "border": 1, "reflection": 2}
# Sentences that docstrings of PyTorch's are made with; libraries put them into theirs by name.
reproducibility_notes = {
    "forward_reproducibility_note": "The result is the same at each run with the same number of threads.",
    "backward_reproducibility_note": "The gradient is the same at each run with the same number of threads.",
    "cudnn_reproducibility_note": "The result is the same at each run: there is no cuDNN to choose among its ways."}
tf32_notes = {"tf32_note": "Products are those of the inputs' dtype: there is no TensorFloat32."}
sparse_support_notes = {"sparse_beta_warning": "Tensors are dense."}
common_notes = {
    "experimental_warning": "This function may change.",
    "sync_note": "When inputs are on a CUDA device, this function waits for it.",
    "sync_note_ex": "When the inputs are on a CUDA device, this function waits for it if check_errors is True.",
    "sync_note_has_ex": "When inputs are on a CUDA device, this function waits for it; :func:`{}` does not."}


class BroadcastingListCls:
    """Marks, in annotations, a list that may be one number: `BroadcastingList2[int]`."""

    def __getitem__(self, types):
        return None


BroadcastingList1, BroadcastingList2, BroadcastingList3 = (BroadcastingListCls() for _ in range(3))


def assert_int_or_pair(arg, arg_name, message):
    """Raise unless an argument is a number or two."""
    if not (isinstance(arg, int) or len(arg) == 2):
        raise AssertionError(message.format(arg_name))


def boolean_dispatch(arg_name, arg_index, default, if_true, if_false, module_name, func_name):
    """Return a function that calls one of two, by an argument that is true or false.

    Parameters
    ----------
    arg_name : str
        The argument.
    arg_index : int
        Its place.
    default : bool
        What it is where it is left out.
    if_true, if_false : Callable
        The functions.
    module_name, func_name : str
        What the function is called.

    Returns
    -------
    Callable
        The function.

    """
    if if_true.__doc__ is not None and if_false.__doc__ is not None:
        raise RuntimeError("only one function can have a docstring")

    def choose(*args, **kwargs):
        chosen = kwargs.get(arg_name, args[arg_index] if arg_index < len(args) else default)
        return (if_true if chosen else if_false)(*args, **kwargs)
    choose.__doc__ = if_true.__doc__ or if_false.__doc__
    choose.__module__ = module_name or choose.__module__
    choose.__name__ = func_name or choose.__name__
    return choose
