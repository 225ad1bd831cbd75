"""`dragon.show` and `dragon.summary`: look at tensors, graphs, plans, profiles and models."""
from dragon import _C


def progress(items=None, total=None, what="", unit="items"):
    """Show how far long work is, on a terminal: what is done, how fast, and how long it will take yet.

    Parameters
    ----------
    items : Iterable, optional
        What is gone through; without it, `update(count)` of the result says what is done, within a `with` block.
    total : int, optional
        How much there is to do; by default the length of the items, where they have one.
    what : str, optional
        What is done.
    unit : str, optional, default="items"
        What is counted; "B" for bytes.

    Returns
    -------
    dragon.core.progress.Progress
        The items, gone through; silent where standard error is no terminal, or DRAGON_PROGRESS is 0.

    Examples
    --------
    >>> for batch in dragon.seeing.progress(batches, what="epoch 1", unit="batches"):
    ...     train(batch)

    """
    from dragon.core.progress import Progress
    return Progress(items, total, what, unit)


def image(x, title=None, low=None, high=None):
    """Return numbers as an image, which a notebook shows and `save(path)` writes as PNG.

    Parameters
    ----------
    x : Union[Tensor, numpy.ndarray]
        (height, width), with 1, 3 or 4 channels first or last; a batch of those becomes a grid.
    title : str, optional
        What stands below; the shape and dtype by default.
    low, high : float, optional
        What is black and what is white; by default 0 and 255 of bytes, 0 and 1 of floats that lie within, else the
        least and the largest number.

    Returns
    -------
    dragon.core.pictures.image.ImagePicture
        The image.

    Examples
    --------
    >>> dragon.seeing.image(dragon.ones((8, 8))).save("white.png")

    """
    from dragon.core.pictures.card import host_numbers
    from dragon.core.pictures.image import ImagePicture
    numbers = host_numbers(x)
    return ImagePicture(numbers, title or f"{type(x).__name__} {tuple(numbers.shape)}", low, high)


def picture(x):
    """Return the picture of an object, without showing it.

    Parameters
    ----------
    x : object
        A tensor of two axes or more (an image), or another one (a card); a graph (to look around in); a function that
        `dragon.function` or `torch.compile` made (the memory of its plan); a profile (a flame graph); or what has a
        picture already.

    Returns
    -------
    object
        What has `show()`, `save(path)`, `html()` and `text`.

    """
    from dragon.core.capture.report import Report
    from dragon.core.pictures.page import Page
    from dragon.core.profile import Profile
    if isinstance(x, _C.Graph):
        from dragon.core.pictures.explorer import GraphPicture
        return GraphPicture(x)
    if hasattr(type(x), "explain"):  # a compiled function, or a module that torch.compile was given
        report = x.explain()
        if isinstance(report, Report):
            return report.memory()
    if isinstance(x, Profile):
        return x.flame()
    if isinstance(x, Page) or hasattr(x, "html") and hasattr(x, "text"):
        return x
    if hasattr(x, "_repr_html_") and not _is_image(x):
        return Page(type(x).__name__, x._repr_html_(), repr(x), height=240)
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        return image(x)
    raise TypeError(f"show: got {type(x).__name__}, expected a tensor, a dragon.Graph, a function that dragon.function "
                    "made, a profile or a picture; dragon.summary shows models")


def summary(model, *inputs, input_size=None, dtype=None, device=None, depth=None, training=False, **kwargs):
    """Return a table of a model's parts: what they give out, their parameters, multiply-adds and memory.

    Nothing is computed where shapes are enough, and the model stays as it was. Weights that several parts share are
    counted once.

    Parameters
    ----------
    model : Union[Module, keras.layers.Layer, dragon.Graph, dragon.function]
        A module or layer of any face, a graph, or a function that `dragon.function` or `torch.compile` made.
    *inputs : object
        An example: tensors, numbers, dictionaries, as the model is called.
    input_size : Union[Sequence[int], Sequence[Sequence[int]]], optional
        Instead of an example: the shape of the one input, or a shape for each.
    dtype : Union[dtype, str, Sequence[Union[dtype, str]]], optional
        With `input_size`, the dtype of the inputs, or one for each; float32 by default.
    device : Union[str, Device], optional
        With `input_size`, where the inputs are; where the model's first parameter is by default.
    depth : int, optional
        How deep parts are shown; all by default.
    training : bool, optional, default=False
        Whether the model is called as in training.
    **kwargs
        The example's arguments by name.

    Returns
    -------
    dragon.core.summary.Summary
        The table; `print` it.

    Examples
    --------
    >>> print(dragon.summary(dragon.nn.Linear(3, 4), input_size=(2, 3)))

    """
    from dragon.core.capture.function import Function
    from dragon.core.example import example_of, tensors_of, training_as
    from dragon.core.module import Module
    from dragon.core.summary import summarize_graph, summarize_module
    if isinstance(model, Function):
        model = model.graph
    if isinstance(model, _C.Graph):
        if inputs or kwargs or input_size is not None:
            raise TypeError("summary: got inputs for a graph, expected none: it knows its shapes")
        return summarize_graph(model, depth)
    model = model.__dict__.get("_modules", {}).get("_orig_mod", model) if isinstance(model, Module) else model
    if not isinstance(model, Module):
        raise TypeError(f"summary: got {type(model).__name__}, expected a module, a layer, a dragon.Graph, or a "
                        "function that dragon.function made")
    if input_size is not None:
        if inputs:
            raise TypeError("summary: got inputs and input_size, expected one of them")
        inputs = example_of(model, input_size, dtype, device)
    elif not inputs and not kwargs:
        raise TypeError(f"summary: got no inputs for {type(model).__name__}, expected an example, or input_size=(2, 3)")
    with training_as(model, training):
        return summarize_module(model, lambda: model(*inputs, **kwargs), tensors_of((inputs, kwargs)), depth)


def _is_image(x):
    """Return whether a tensor's shape is that of an image, or of some."""
    shape = tuple(getattr(x, "shape", ()))
    return len(shape) in (3, 4) and (shape[-3] in (1, 3, 4) or shape[-1] in (1, 3, 4)) and min(shape) > 0


def show(x):
    """Show an object: in the notebook, else in a browser, else as text where there is no screen.

    Parameters
    ----------
    x : object
        A tensor, a graph, a function that `dragon.function` made, a profile or a picture; see `picture`.

    Returns
    -------
    object
        The picture, so that `dragon.show(x).save(path)` keeps it.

    Examples
    --------
    >>> dragon.show(step)

    """
    from dragon.core.pictures.opening import in_notebook
    shown = picture(x)
    if not in_notebook():  # there, what a cell ends with is shown
        shown.show()
    return shown
