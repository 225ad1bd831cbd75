"""Which shapes the gradients of convolutions and normalisations take: TensorFlow's own conditions, in its own words."""
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.windows.convolution import channels_of
from dragon.vm.shared.windows.geometry import spatial_of, spread


def require_depth(slope, depth, kind):
    """Raise unless a convolution's result, or its gradient, has as many channels as the filters give."""
    if channels_of(slope, kind) != depth:
        raise invalid_argument("filter and out_backprop must have the same out_depth: input and filter must have the "
                               f"same depth: {channels_of(slope, kind)} vs {depth}")


def require_axes(numbers, what, op):
    """Raise unless there is a stride or dilation for each axis of an operator of images or volumes, or none at all."""
    rank = 5 if "3D" in op else 4
    if len(numbers) not in ({rank, 0} if what == "dilations" else {rank}):
        raise invalid_argument(f"Sliding window {what} field must specify {rank} dimensions [Op:{op}]")


def require_sizes(sizes, rank, who):
    """Raise unless sizes are so many, and none is below 0."""
    if len(sizes) != rank:
        raise invalid_argument(f"{who} must be {rank}-dimensional. Received: {sizes}")
    for size in sizes:
        if size < 0:
            raise invalid_argument(f"Dimension {size} must be >= 0. Received: {sizes}")


def group_count(channels, depth):
    """Return how many groups of channels a convolution's filters of this depth make."""
    if depth == 0 or channels % depth or channels == 0:
        raise invalid_argument(f"input depth must be evenly divisible by filter depth: {channels} vs {depth}")
    return channels // depth


def require_gradient(slope, shape, window, strides, dilations, padding, kind):
    """Raise unless a gradient has the shape of the result of a convolution.

    Parameters
    ----------
    slope : Tensor
        The gradient.
    shape : Sequence[int]
        Of the convolution's input.
    window, strides, dilations : Sequence[int]
        For each spatial axis.
    padding : Union[str, Tuple[Sequence[int], Sequence[int]]]
        "valid", "same", or the places before and after each axis.
    kind : str
        "channels_last" or "channels_first".

    """
    require_sizes(shape, slope.ndim, "input")
    if shape[0] != slope.shape[0]:
        raise invalid_argument("input and out_backprop must have the same batch size. Input batch: "
                               f"{shape[0]}, outbackprop batch: {slope.shape[0]}, batch_dim: 0")
    numbers = zip(spatial_of(shape, kind), spatial_of(slope.shape, kind), window, strides, dilations)
    for place, (size, found, places, stride, gap) in enumerate(numbers):
        if padding == "same":
            computed = (size + stride - 1) // stride
        else:
            extra = 0 if isinstance(padding, str) else padding[0][place] + padding[1][place]
            computed = (size + extra - spread(places, gap) + stride) // stride
        if computed != found:
            raise invalid_argument(f"Size of out_backprop doesn't match computed: actual = {found}, computed = "
                                   f"{computed} spatial_dim: {place + 1} input: {size} filter: {places} "
                                   f"output: {found} stride: {stride} dilation: {gap}")


def _tight(shape):
    """Return a shape as TensorFlow shows it."""
    return f"[{','.join(map(str, shape))}]"


def require_norm(x, kind, vectors, estimated, when):
    """Raise unless the vectors of a batch normalisation have a number for each channel.

    Parameters
    ----------
    x : Tensor
        What is normalised.
    kind : str
        The layout, "NHWC" or "NCHW" or their likes of three axes.
    vectors : Dict[str, Tensor]
        Those that must fit in any case.
    estimated : Dict[str, Tensor]
        The running mean and variance.
    when : str
        When those must fit as well; empty where they are not read.

    """
    if x.ndim not in (4, 5):
        raise invalid_argument(f"input must be 4 or 5-dimensional{_tight(x.shape)}")
    for name, vector in {**vectors, **{f"estimated_{name}": one for name, one in estimated.items()}}.items():
        if vector.ndim != 1:
            raise invalid_argument(f"{name} must be 1-dimensional{_tight(vector.shape)}")
    channels = x.shape[1 if kind.startswith("NC") else -1]
    for name, vector in {**vectors, **(estimated if when else {})}.items():
        if vector.shape[0] != channels:
            told = f"{when}, {name}" if name in estimated else name
            raise invalid_argument(f"{told} must have the same number of elements as the channels of x, got "
                                   f"{vector.shape[0]} and {channels}")
