"""Images read where projections send the places of the result."""
from dragon.vm.shared.tensors.tensor import ops

PROJECTED = ("uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64")
WIDER = {"bool": "uint8", "int8": "int32", "int16": "int32", "uint16": "int32", "uint32": "int64", "uint64": "int64"}


def project_batch(x, transforms, size, interpolation="bilinear", fill_mode="constant", fill_value=0.0):
    """Return images whose pixels lie where eight numbers say.

    Parameters
    ----------
    x : Tensor
        Images (batch, height, width, channels) of a dtype of PROJECTED.
    transforms : Tensor
        Rows of eight numbers of float32, one for all images or one each: pixel (x, y) comes from
        ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) with k = c0 x + c1 y + 1.
    size : sequence of int
        Height and width of the result.
    interpolation : str, optional, default="bilinear"
        "bilinear" or "nearest".
    fill_mode : str, optional, default="constant"
        What lies outside: "constant", "nearest", "reflect" or "wrap".
    fill_value : float, optional, default=0.0
        The number of "constant", and of what lies at infinity.

    Returns
    -------
    Tensor
        Images of the same dtype.

    """
    made = ops.project_images(ops.permuted(x, [0, 3, 1, 2]), transforms, list(size), interpolation, fill_mode,
                              fill_value)
    return ops.permuted(made, [0, 2, 3, 1])
