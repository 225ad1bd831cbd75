"""What PyTorch's attention and transformer layers call in evaluation, in archives that it wrote."""
from dragon.vm.torch.core.api import api

QUERIES, KEYS = 0, 1  # kinds of masks: of pairs, of keys; any other is of pairs in each head


def hidden(mask, kind, batch, length):
    """Return a mask as (batch or 1, heads or 1, queries or 1, keys), True where something is hidden, or None."""
    if mask is None:
        return None
    found = mask.to(api().bool)
    if kind == QUERIES:
        return found.reshape(1, 1, *found.shape[-2:])
    if kind == KEYS:
        return found.reshape(batch, 1, 1, length)
    return found if found.dim() == 4 else found.reshape(batch, -1, *found.shape[-2:])


def attend(query, key, value, size, heads, weight, bias, out_weight, out_bias, mask):
    """Return (what is attended to, weights of the heads); the batch comes first."""
    F = api().nn.functional
    parts = []
    for x, matrix, offset in zip((query, key, value), weight.chunk(3), bias.chunk(3)):
        parts.append(F.linear(x, matrix, offset).reshape(*x.shape[:2], heads, size // heads).transpose(1, 2))
    q, k, v = parts
    scores = (q * (size // heads) ** -0.5) @ k.transpose(-2, -1)
    weights = F.softmax(scores if mask is None else scores.masked_fill(mask, float("-inf")), -1)
    made = (weights @ v).transpose(1, 2).reshape(*query.shape[:2], size)
    return F.linear(made, out_weight, out_bias), weights


def native_attention(query, key, value, size, heads, weight, bias, out_weight, out_bias, mask=None, need_weights=True,
                     average=True, mask_type=None):
    """Return what `nn.MultiheadAttention` gives in evaluation, the batch first."""
    mask = hidden(mask, mask_type, key.shape[0], key.shape[1])
    made, weights = attend(query, key, value, size, heads, weight, bias, out_weight, out_bias, mask)
    if not need_weights:
        return made, api().empty(0)
    return made, weights.mean(1) if average else weights


def encoder_layer(src, size, heads, weight, bias, out_weight, out_bias, use_gelu, norm_first, eps, weight1, bias1,
                  weight2, bias2, wide_weight, wide_bias, back_weight, back_bias, mask=None, mask_type=None):
    """Return what a layer of `nn.TransformerEncoder` gives in evaluation."""
    F = api().nn.functional
    padding = src.__dict__.get("_hidden")
    mask = hidden(mask, mask_type, *src.shape[:2]) if padding is None else hidden(padding, KEYS, *src.shape[:2])

    def attended(x):
        return attend(x, x, x, size, heads, weight, bias, out_weight, out_bias, mask)[0]

    def fed(x):
        wide = F.linear(x, wide_weight, wide_bias)
        return F.linear(F.gelu(wide) if use_gelu else F.relu(wide), back_weight, back_bias)

    def first(x):
        return F.layer_norm(x, (size,), weight1, bias1, eps)

    def second(x):
        return F.layer_norm(x, (size,), weight2, bias2, eps)
    if norm_first:
        x = src + attended(first(src))
        found = x + fed(second(x))
    else:
        x = first(src + attended(src))
        found = second(x + fed(x))
    return found if padding is None else without(found, padding)


def without(tensor, padding):
    """Return a tensor that knows what of it is padding: what PyTorch keeps as a nested tensor."""
    found = tensor.alias() if hasattr(tensor, "alias") else tensor.view_as(tensor)
    found.__dict__["_hidden"] = padding
    return found


def from_mask(tensor, mask, mask_check=True):
    """Return a tensor without what a mask does not have, which stands at the ends of sequences alone."""
    if mask_check and not is_left_aligned(tensor, mask):
        raise RuntimeError("_nested_tensor_from_mask: got a mask with gaps, expected one that is left-aligned")
    return without(tensor, mask.logical_not())


def is_left_aligned(tensor, mask):
    """Return whether nothing that is there follows what is not."""
    torch = api()
    gone = mask.logical_not().to(torch.int8)
    return bool(torch.all(torch.cummax(gone, 1)[0] == gone))


def to_padded(tensor, padding, output_size=None):
    """Return a tensor with a number where it has nothing."""
    gone = tensor.__dict__.get("_hidden")
    if gone is None:
        return api().nested.to_padded_tensor(tensor, padding, output_size)
    return tensor.masked_fill(gone.unsqueeze(-1), padding)
