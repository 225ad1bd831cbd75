"""Names, numbers and texts as the dialect of archives writes them."""
import keyword
import math


def is_identifier(name):
    """Return whether an attribute can be written behind a dot."""
    return name.isidentifier() and not keyword.iskeyword(name) and name.isascii()


def number(value):
    """Return a floating number as code."""
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if math.isnan(value):
        return "nan"
    return repr(value)


def quoted(text):
    """Return a text as code: what is not plain is written in octal."""
    plain = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    found = "".join(plain.get(part) or (part if 32 <= ord(part) != 127 else f"\\{ord(part):03o}") for part in text)
    return f'"{found}"'
