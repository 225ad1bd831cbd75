"""What PyTorch calls the dtypes in its sentences: {a:Kind} is Float, {a:c} is float."""
from dragon.core.sentences import SHOWN

KINDS = {"float16": "Half", "bfloat16": "BFloat16", "float32": "Float", "float64": "Double", "complex32": "ComplexHalf",
         "complex64": "ComplexFloat", "complex128": "ComplexDouble", "uint8": "Byte", "int8": "Char", "int16": "Short",
         "int32": "Int", "int64": "Long", "bool": "Bool", "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64"}
IN_C = {"float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double", "bool": "bool",
        "uint8": "unsigned char", "int8": "signed char", "int16": "short int", "int32": "int", "int64": "long int",
        "complex64": "c10::complex<float>", "complex128": "c10::complex<double>"}
SHOWN["Kind"] = lambda text: KINDS.get(text, text)
SHOWN["c"] = lambda text: IN_C.get(text, text)
