"""Write dragon/dialects/aten/{,foreach_}signatures.txt: what PyTorch's operators take and give.

Run it where the genuine PyTorch is installed: `python tools/operator_signatures.py`. In signatures.txt a line says who
may name the operator, "s" scripts, "e" exported programs; "n" that there is a kernel of it for nested tensors of layout
`torch.strided`, and "r" that it draws random numbers. Within one name lines stand in the order in which PyTorch tries
them. Operators of lists of tensors, which neither scripts nor programs name, stand in foreach_signatures.txt, which
`import torch` reads.
"""
import pathlib
import re

PLACE = pathlib.Path(__file__).resolve().parents[1] / "dragon/dialects/aten/signatures.txt"
FOREACH = PLACE.with_name("foreach_signatures.txt")
HEAD = "# What PyTorch's operators take and give, as tools/operator_signatures.py reads it off an installed PyTorch.\n"
# Of other devices and quantized tensors, of lists at once, parts of sparse tensors: not here, or not for scripts.
FOREIGN = re.compile(r"_?(foreach|fused|cudnn|miopen|mkldnn|mps|nnpack|xnnpack|test|cufft|spmm|fw_primal|"
                     r"sparse(?!_(mm|addmm|softmax|log_softmax|sum|mm_reduce_impl|sampled_addmm|mask|dim|"
                     r"(coo|csr|csc|bsr|bsc|compressed)_tensor)$)|"
                     r"fake_quantize|quantize|qsgemm|fbgemm|cslt|nested(?!_tensor_from_mask)|weight_int|dyn_quant|"
                     r"wrapped|int4|int8|functional|validate|make_dep|lazy|resize_output|make_per|unsafe_)")
# Of prim only what `ops.prim` reaches from programs; the rest are steps that the compiler makes itself.
PRIM = ("Print RaiseException NumToTensor data is_cuda is_cpu is_meta is_xla is_mps is_quantized is_sparse is_nested "
        "is_mkldnn is_vulkan is_ipu requires_grad dtype device layout itemsize min max abs type isinstance name grad "
        "index mT H mH T shape AutogradZero unchecked_cast EnumName EnumValue").split()
# Types that only TorchScript's own containers have, and axes with names.
SCRIPTED = re.compile(r"Dimname|Stream|QScheme|ConstQuant|__torch__|\bt\d?\b|Dict\(|Future|\bstr\[\]|Any\b|NoneType")
# Of other devices, of sparse, quantized and nested tensors, and of optimizers: no exported program calls them.
ELSEWHERE = re.compile(r"cudnn|miopen|mkldnn|mkl_|cuda|mps|quantize|^q_|^_?q?int_repr|sparse|nested|jagged|_foreach|"
                       r"_fused|vulkan|xnnpack|_thnn|fbgemm|_coo|_csr|_csc|_bsr|_bsc|ccol|crow|coalesce|named|rename|"
                       r"_dim_arange|_cufft|_amp_|double_backward")
# Those with an underscore that exported programs call.
INNER = re.compile(r"^(_softmax|_log_softmax(_backward_data)?|_to_copy|_unsafe_view|_unsafe_index|_unsafe_index_put|"
                   r"_convolution|_native_batch_norm_legit|_scaled_dot_product_\w+|"
                   r"_assert_\w+|_adaptive_avg_pool[23]d|_conj\w*|"
                   r"_embedding_bag\w*|_cdist_forward|_pdist\w*|_local_scalar_dense|_weight_norm\w*|_fft_\w+|"
                   r"_linalg_\w+|_batch_norm_\w+|_upsample_\w+|_unique2?|_trilinear|_reshape_alias|_neg_view|"
                   r"_prelu_kernel|_index_put_impl_|__\w+__|_native_\w+|_shape_as_tensor|_is_\w+|_transformer_\w+|"
                   r"_cummax_helper|_pad_\w+|_softmax\w*|_safe_softmax|_scaled_mm)$")


def is_scripted(text):
    """Return whether scripts may name an operator."""
    space, _, rest = text.partition("::")
    name = re.match(r"\w*", rest).group(0)
    if space == "prim":
        return name in PRIM
    is_outer = re.search(r"\w+\(\w!\) (out\d?|out_\w+|\w+_out|max|min|values|indices|U|S|Vh?|L|Q|R|LU|pivots|info|"
                         r"sign|logabsdet|\w*determinant|e|X|M|A|solution|hist|bin_edges|buffer|mask|total_weight|"
                         r"[gh]x)[,)]", text) and "*" in text
    foreign = any(word in text for word in ("Dimname", "__torch__", "RRef", "Await")) or FOREIGN.match(name)
    return (space == "aten" and not is_outer and not foreign
            and not name.endswith(("_copy", "_backward", "_backward_overrideable"))
            and not re.match(r"\w+\.(\w*out|names\w*)\(", rest))


def is_exported(schema):
    """Return whether a program of tensors may call an operator."""
    space, _, name = schema.name.partition("::")
    text, overload = str(schema).partition("(")[2], schema.overload_name
    takes = any(argument.is_out for argument in schema.arguments)
    scripted = overload.startswith("prim_") or "..." in text or (name, overload) == ("split", "")
    foreign = SCRIPTED.search(text) or ELSEWHERE.search(name) or (
        "Tensor" not in text and not name.startswith("_assert_"))
    return space == "aten" and not (takes or scripted or overload.endswith("out") or foreign
                                    or name.startswith("_") and not INNER.match(name))


def is_nested(schema):
    """Return whether PyTorch has a kernel of an operator for nested tensors of layout `torch.strided`."""
    import torch
    name = ".".join(filter(None, (schema.name, schema.overload_name)))
    return torch._C._dispatch_has_kernel(name) and torch._C._dispatch_has_kernel_for_dispatch_key(
        name, "NestedTensorCPU")


def is_random(schema):
    """Return whether PyTorch has marked an operator as one that draws random numbers."""
    import torch
    found = getattr(torch.ops.aten, schema.name.removeprefix("aten::"), None)
    found = getattr(found, schema.overload_name or "default", None)
    return torch.Tag.nondeterministic_seeded in getattr(found, "tags", ())


def main():
    """Write the tables."""
    import torch
    lines, foreach = {}, []
    for place, schema in enumerate(torch._C._jit_get_all_schemas()):
        text = str(schema)
        users = "s" * bool(is_scripted(text)) + "e" * is_exported(schema)
        if users:
            users += "n" * is_nested(schema) + "r" * is_random(schema)
            lines[f"{users} {text}\n"] = (re.match(r"[\w:]+", text).group(0), place)
        if text.startswith("aten::_foreach_") and not any(argument.is_out for argument in schema.arguments):
            foreach.append(f"{text}\n")
    PLACE.write_text(HEAD + "".join(sorted(lines, key=lines.get)), encoding="utf-8")
    FOREACH.write_text(HEAD + "".join(sorted(foreach)), encoding="utf-8")
    print(f"{len(lines)} signatures in {PLACE}, {len(foreach)} in {FOREACH}")


if __name__ == "__main__":
    main()
