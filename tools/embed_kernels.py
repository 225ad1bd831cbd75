"""Write the sources that generated kernels are made of as a table of strings: embed_kernels.py FILE.cc."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GENERATED = "core/kernels/generated"
# As they are: what functors lean on, and the files that have them.
PLAIN = [
    "core/base/complex.h", "core/base/half.h", "core/base/macros.h", "core/base/minifloat.h", "core/base/types.h",
    "core/device/cuda/block.h", "core/device/cuda/divide.h", "core/kernels/activation.h", "core/kernels/cast.h",
    "core/kernels/cost.h", "core/kernels/exponent.h", "core/kernels/identity.h", "core/kernels/libm.h",
    "core/kernels/libmvec.h", "core/kernels/math.h", "core/kernels/reduction.h", "core/kernels/wrapping.h",
    "core/kernels/activation/activation.cc", "core/kernels/math/arithmetic.cc", "core/kernels/math/compare.cc",
    "core/kernels/math/division.cc", "core/kernels/math/exponential.cc", "core/kernels/math/rounding.cc",
    "core/kernels/math/special.cc", "core/kernels/math/special.h", "core/kernels/math/trigonometric.cc",
    "core/kernels/reduction/extreme.cc", "core/kernels/reduction/sum.cc", f"{GENERATED}/parts.h",
]
# Under another file's name.
STAND_INS = {
    "core/kernels/each.h": f"{GENERATED}/stand_in_kernel.h",
    "core/kernels/kernel.h": f"{GENERATED}/stand_in_kernel.h",
    "core/kernels/pointwise.h": f"{GENERATED}/stand_in_pointwise.h",
    "core/kernels/reduce.h": f"{GENERATED}/stand_in_reduce.h",
    # All that copies compute: the rest of that file is of one device.
    "core/kernels/array/copy.cc": "core/kernels/identity.h",
}
ENTERED = re.compile(r"\nconst bool entered\[\] = \{\n.*?\n\};\n", re.DOTALL)
STANDARD = ("atomic", "bit", "cmath", "complex", "cstddef", "cstdint", "cstring", "cuda_bf16.h", "cuda_fp16.h",
            "cuda_runtime.h", "functional", "limits", "type_traits")


def files():
    """Return the file behind every name that is included: names without a slash are the C++ library's."""
    return {**{name: name for name in PLAIN}, **STAND_INS,
            **dict.fromkeys(STANDARD, f"{GENERATED}/stand_in_standard.h")}


def texts():
    """Return the text of every name, without the tables that enter kernels."""
    return {name: ENTERED.sub("\n", (ROOT / path).read_text(encoding="utf-8")) for name, path in files().items()}


def literal(text):
    """Return a string of C++, in pieces that no compiler finds too long."""
    mark = "dragon_text"
    assert f"){mark}\"" not in text
    pieces = [text[i:i + 8000] for i in range(0, len(text), 8000)]
    return "\n".join(f'R"{mark}({piece}){mark}"' for piece in pieces)


def main():
    """Write the table."""
    table = "\n".join(f'{{"{name}", {literal(text)}}},' for name, text in texts().items())
    made = ('// Made by tools/embed_kernels.py.\n#include "core/device/cuda/sources.h"\n\n'
            f"namespace dragon::generated {{\nconst SourceFile kSources[] = {{\n{table}\n}};\n"
            f"const int kSourceCount = {len(files())};\n}}  // namespace dragon::generated\n")
    out = pathlib.Path(sys.argv[1])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
