"""Write the table of operators that scripts may name: run it where the genuine PyTorch is installed.

`python tools/script_signatures.py` writes dragon/vm/torch/core/scripting/signatures.txt.
"""
import pathlib
import re

PLACE = pathlib.Path(__file__).resolve().parents[1] / "dragon/vm/torch/core/scripting/signatures.txt"
# Of other devices, of sparse and quantized tensors, of lists at once: nothing that Dragon computes, nor models name.
FOREIGN = re.compile(r"_?(foreach|fused|cudnn|miopen|mkldnn|mps|nnpack|xnnpack|sparse|test|cufft|spmm|fw_primal|"
                     r"fake_quantize|quantize|qsgemm|fbgemm|cslt|nested|transformer|weight_int|dyn_quant|wrapped|"
                     r"int4|int8|functional|validate|make_dep|lazy|resize_output|make_per|unsafe_)")
# Of prim only what `ops.prim` reaches from programs; the rest are steps that the compiler makes itself.
PRIM = ("Print RaiseException NumToTensor data is_cuda is_cpu is_meta is_xla is_mps is_quantized is_sparse is_nested "
        "is_mkldnn is_vulkan is_ipu requires_grad dtype device layout itemsize min max abs type isinstance name grad "
        "index mT H mH T shape AutogradZero unchecked_cast EnumName EnumValue").split()
HEAD = "# The signatures of PyTorch's operators, as tools/script_signatures.py reads them off an installed PyTorch.\n"


def is_wanted(text):
    """Return whether a signature belongs to the table."""
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


def main():
    """Write the table."""
    import torch
    found = sorted(set(map(str, torch._C._jit_get_all_schemas())))
    order = {str(schema): place for place, schema in enumerate(torch._C._jit_get_all_schemas())}
    kept = sorted(filter(is_wanted, found), key=lambda text: (re.match(r"[\w:]+", text).group(0), order[text]))
    aliases = re.compile(r"(?<!Future)\([\w|]+( -> [\w*|]+)?\)|\(\*\)(?=,| |$)")  # of them only the written ones stay
    lines = [re.sub(r"\((\w+!)\)", "(a!)", aliases.sub("", text)) + "\n" for text in kept]
    PLACE.write_text(HEAD + "".join(lines), encoding="utf-8")
    print(f"{len(kept)} signatures in {PLACE}")


if __name__ == "__main__":
    main()
