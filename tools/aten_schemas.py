"""Write dragon/vm/torch/core/exporting/operators.txt: PyTorch's operators, their overloads and arguments.

Run it where the genuine PyTorch is installed: `python tools/aten_schemas.py`.
"""
import pathlib
import re

PLACE = pathlib.Path(__file__).resolve().parents[1] / "dragon/vm/torch/core/exporting/operators.txt"
# Types that only TorchScript's own containers have, and axes with names.
FOREIGN = re.compile(r"Dimname|Stream|QScheme|ConstQuant|__torch__|\bt\d?\b|Dict\(|Future|\bstr\[\]|Any\b|NoneType")
# Of other devices, of sparse, quantized and nested tensors, and of optimizers.
ELSEWHERE = re.compile(r"cudnn|miopen|mkldnn|mkl_|cuda|mps|quantize|^q_|^_?q?int_repr|sparse|nested|jagged|_foreach|"
                       r"_fused|vulkan|xnnpack|_thnn|fbgemm|_coo|_csr|_csc|_bsr|_bsc|ccol|crow|coalesce|named|rename|"
                       r"_dim_arange|_cufft|_amp_|backward_data|double_backward")
# Those with an underscore that exported programs call.
INNER = re.compile(r"^(_softmax|_log_softmax|_to_copy|_unsafe_view|_unsafe_index|_unsafe_index_put|_convolution|"
                   r"_native_batch_norm_legit|_scaled_dot_product_\w+|_assert_\w+|_adaptive_avg_pool[23]d|_conj\w*|"
                   r"_embedding_bag\w*|_cdist_forward|_pdist\w*|_local_scalar_dense|_weight_norm\w*|_fft_\w+|"
                   r"_linalg_\w+|_batch_norm_\w+|_upsample_\w+|_unique2?|_trilinear|_reshape_alias|_neg_view|"
                   r"_prelu_kernel|_index_put_impl_|__\w+__|_native_\w+|_shape_as_tensor|_is_\w+|_transformer_\w+|"
                   r"_cummax_helper|_pad_\w+|_softmax\w*|_safe_softmax)$")


def belongs(name, text, schema):
    """Return whether a program of tensors may call it."""
    takes = any(argument.is_out for argument in schema.arguments)
    overload = schema.overload_name
    scripted = overload.startswith("prim_") or "..." in text or (name, overload) == ("split", "")
    foreign = FOREIGN.search(text) or ELSEWHERE.search(name) or "Tensor" not in text
    return not (takes or scripted or overload.endswith("out") or foreign
                or name.startswith("_") and not INNER.match(name))


def main():
    """Write the table."""
    import torch
    found = set()
    for schema in torch._C._jit_get_all_schemas():
        space, _, name = schema.name.partition("::")
        if space == "aten" and belongs(name, str(schema).partition("(")[2], schema):
            found.add(str(schema).removeprefix("aten::"))
    PLACE.write_text("\n".join(sorted(found)) + "\n", encoding="utf-8")
    print(f"{len(found)} operators")


if __name__ == "__main__":
    main()
