"""Products with weights of few bits: integers times integers, and the scale of both behind them."""
from dragon.vm import torch
from dragon.vm.torch.core.quantized.making import quantize_per_tensor_dynamic


def quantized_weight(weight, observer, who):
    """Return a weight of the dtype that an observer says: quantized, or floats of 16 bits.

    Parameters
    ----------
    weight : Tensor
        Floats.
    observer : Module
        What looks at it.
    who : str
        Who asks.

    Returns
    -------
    Tensor
        The weight.

    """
    if observer.dtype == torch.float16:
        return weight.detach().float()
    if observer.dtype != torch.qint8:
        raise RuntimeError(f"{who}: got {observer.dtype}, expected torch.qint8 or torch.float16: Unsupported dtype "
                           "specified for dynamic quantized Linear!")
    observer(weight)
    scale, point = observer.calculate_qparams()
    weight = weight.detach().float()
    if observer.qscheme in (torch.per_tensor_symmetric, torch.per_tensor_affine):
        return torch.quantize_per_tensor(weight, float(scale), int(point), torch.qint8)
    return torch.quantize_per_channel(weight, scale.double(), point.to(torch.int64), observer.ch_axis, torch.qint8)


class Product:
    """A product with a weight, and a sum with a bias.

    Parameters
    ----------
    weight : Tensor
        (results, inputs): quantized to `torch.qint8`, or floats that are rounded to 16 bits.
    bias : Tensor, optional
        Floats.

    """

    def __init__(self, weight, bias):
        self.weight, self.bias = weight, bias
        if not weight.is_quantized:
            self.factor, places = None, weight.half().float()
        elif weight.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
            self.factor, places = weight.q_scale(), weight.int_repr().float() - weight.q_zero_point()
        else:
            self.factor = weight.q_per_channel_scales().float()
            places = weight.int_repr().float() - weight.q_per_channel_zero_points().float().unsqueeze(1)
        self.places = places.t()

    def __call__(self, x):
        """Return the products of floats, quantized here by their own least and largest number."""
        if self.factor is None:
            made = torch.matmul(x, self.places)
        else:
            # 7 bits of inputs, as PyTorch leaves one free; sums of products are whole numbers, exact below 2^24
            held = quantize_per_tensor_dynamic(x.detach(), torch.quint8, True)
            made = torch.matmul(held.int_repr().float() - held.q_zero_point(), self.places)
            made = made * (self.factor * held.q_scale())
        return made if self.bias is None else made + self.bias
