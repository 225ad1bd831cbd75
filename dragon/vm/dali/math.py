"""Mathematics by elements, on values of a pipeline."""
from dragon.vm.dali.core.graph import arithmetic as _arithmetic


def _unary(name, words):
    def function(input):
        return _arithmetic(name, input)
    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = f"Return {words} of each element."
    return function


for _name, _words in {
        "sqrt": "the square root", "rsqrt": "one over the square root", "cbrt": "the cube root",
        "exp": "the exponential", "log": "the logarithm", "log2": "the logarithm to base 2",
        "log10": "the logarithm to base 10", "abs": "the absolute value", "fabs": "the absolute value, as a float",
        "floor": "the whole number below", "ceil": "the whole number above", "sin": "the sine", "cos": "the cosine",
        "tan": "the tangent", "asin": "the inverse sine", "acos": "the inverse cosine", "atan": "the inverse tangent",
        "sinh": "the hyperbolic sine", "cosh": "the hyperbolic cosine", "tanh": "the hyperbolic tangent",
        "asinh": "the inverse hyperbolic sine", "acosh": "the inverse hyperbolic cosine",
        "atanh": "the inverse hyperbolic tangent"}.items():
    globals()[_name] = _unary(_name, _words)


def min(left, right):
    """Return the smaller of two, by elements."""
    return _arithmetic("min", left, right)


def max(left, right):
    """Return the larger of two, by elements."""
    return _arithmetic("max", left, right)


def clamp(value, lo, hi):
    """Return values held between two others."""
    return _arithmetic("clamp", value, lo, hi)


def pow(base, exponent):
    """Return powers; those of whole numbers are whole."""
    return _arithmetic("pow", base, exponent)


def fpow(base, exponent):
    """Return powers as floats."""
    return _arithmetic("fpow", base, exponent)


def atan2(x, y):
    """Return the angle whose tangent is x over y."""
    return _arithmetic("atan2", x, y)
