"""Python's own functions that scripts know, and the numbers that have names in archives."""
import math

from dragon.vm.torch.core.scripting.types import BOOL, FLOAT, INT, STRING

CASTS = {"int": ("aten::Int", INT), "float": ("aten::Float", FLOAT), "bool": ("aten::Bool", BOOL),
         "str": ("aten::str", STRING), "complex": ("aten::Complex", None)}
DIRECT = {"len": "aten::len", "ord": "aten::ord", "chr": "aten::chr", "hex": "aten::hex", "oct": "aten::oct",
          "bin": "aten::bin", "round": "aten::round", "abs": "prim::abs", "min": "prim::min", "max": "prim::max",
          "sum": "aten::sum", "sorted": "aten::sorted", "all": "aten::all", "any": "aten::any", "pow": "aten::pow",
          "divmod": "aten::divmod", "hash": "aten::hash", "wait": "aten::wait"}
NUMBERS = {"inf": math.inf, "nan": math.nan, "infj": complex(0, math.inf), "nanj": complex(0, math.nan)}
