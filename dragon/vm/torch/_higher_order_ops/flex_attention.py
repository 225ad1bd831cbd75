"""Flexible attention as an operator: the mask as the parts of a `BlockMask`, all results as tensors."""
import math

from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.nn.attention import flex_attention as face


class FlexAttentionHOP:
    """The operator behind `torch.nn.attention.flex_attention`."""

    __name__ = "flex_attention"

    def __call__(self, query, key, value, score_mod, block_mask, scale, kernel_options, score_mod_other_buffers=(),
                 mask_mod_other_buffers=()):
        """Attend.

        Parameters
        ----------
        query, key, value : Tensor
            (batch, heads, length, size); heads of keys and values may serve several heads of queries.
        score_mod : Callable
            A function of a score and the indices of batch, head, query and key, and of `score_mod_other_buffers`.
        block_mask : tuple
            What `BlockMask.as_tuple` gives; its last part is a function of indices and of `mask_mod_other_buffers`.
        scale : float
            The factor of the products.
        kernel_options : Dict[str, Any]
            How GPU kernels are tuned; the CPU has nothing to tune.
        score_mod_other_buffers, mask_mod_other_buffers : tuple, optional
            What the functions get behind the indices.

        Returns
        -------
        Tuple[Tensor, Tensor, Tensor]
            The attended values, the logarithms of the weights' sums and the largest scores, both to the base of 2.

        """
        if not isinstance(score_mod_other_buffers, tuple) or not isinstance(mask_mod_other_buffers, tuple):
            raise RuntimeError("flex_attention: got other buffers that are no tuple. Other buffers must be tuples.")
        rows, columns, *tensors, row_size, column_size, mask_mod = block_mask

        def change(score, *indices):
            return score_mod(score, *indices, *score_mod_other_buffers)

        def shows(*indices):
            return mask_mod(*indices, *mask_mod_other_buffers)
        mask = face.BlockMask((rows, columns), *tensors, (row_size, column_size), shows)
        made, more = face.flex_attention(query, key, value, change, mask, scale, enable_gqa=True,
                                         return_aux=face.AuxRequest(lse=True, max_scores=True))
        return made, ops.div(more.lse, math.log(2)), ops.div(more.max_scores, math.log(2))

    def __repr__(self):
        return self.__name__


flex_attention = FlexAttentionHOP()
