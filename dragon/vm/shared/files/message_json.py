"""Messages of protocol buffers as JSON: names in either spelling, numbers also as texts, bytes in base64."""
import base64
import binascii
import json
import math
import re

NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def from_json(kind, text):
    """Return the message of a class that JSON tells.

    Parameters
    ----------
    kind : type
        The class of the message.
    text : Union[str, bytes]
        The JSON.

    Returns
    -------
    Message
        The message. What is no such message raises a ValueError.

    """
    return _message(kind, json.loads(text, parse_constant=_refuse), kind.__name__)


def _refuse(name):
    raise ValueError(f"got {name}, expected a number, or a text for what is none")


def _camel(name):
    return re.sub("_(.)", lambda found: found[1].upper(), name)


def _message(kind, value, who):
    if not isinstance(value, dict):
        raise ValueError(f"{who}: got {value!r}, expected an object")
    known = {spelling: name for name in kind._fields for spelling in (name, _camel(name))}
    made = kind()
    for key, item in value.items():
        if key not in known:
            raise ValueError(f"{who}: no such field: {key!r}")
        name = known[key]
        if item is not None:
            _put(made, name, kind._fields[name], item, f"{who}.{key}")
    return made


def _put(made, name, field, item, who):
    if field.mapped:
        if not isinstance(item, dict):
            raise ValueError(f"{who}: got {item!r}, expected an object")
        for key, one in item.items():
            getattr(made, name)[_scalar(field.entry[0], key, who)] = _one(field.entry[1], one, f"{who}[{key!r}]")
        getattr(made, name)
    elif field.repeated:
        items = item if isinstance(item, list) else [item]  # one alone is taken for a list of it
        getattr(made, name).extend([_one(field, one, f"{who}[{place}]") for place, one in enumerate(items)])
        getattr(made, name)
    else:
        made._fill(name, field, _one(field, item, who))
    made._touch()


def _one(field, value, who):
    return _message(field.kind, value, who) if isinstance(field.kind, type) else _scalar(field, value, who)


def _scalar(field, value, who):
    """Return a value that is no message."""
    kind = field.kind
    if kind in ("float", "double"):
        made = _real(value, who)
        try:
            return field.check(made, who)
        except OverflowError:
            raise ValueError(f"{who}: {kind} out of range: {value!r}") from None
    if kind == "bytes":
        try:
            return base64.b64decode(_expect(value, str, who).translate({45: "+", 95: "/"}) + "=" * (-len(value) % 4),
                                    validate=True)
        except (binascii.Error, ValueError):
            raise ValueError(f"{who}: corrupt base64: {value!r}") from None
    if kind == "string":
        return _expect(value, str, who)
    if kind == "bool":
        return _expect(value, bool, who)
    return field.check(_whole(value, who), who)


def _expect(value, kind, who):
    if not isinstance(value, kind):
        raise ValueError(f"{who}: got {value!r}, expected {kind.__name__}")
    return value


def _real(value, who):
    if isinstance(value, str) and value in NUMBERS:
        return NUMBERS[value]
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{who}: got {value!r}, expected number or string")
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise ValueError(f"{who}: got {value!r}, expected a number") from None


def _whole(value, who):
    number = value if isinstance(value, int) and not isinstance(value, bool) else None
    if isinstance(value, str) and re.fullmatch("-?[0-9]+", value):
        number = int(value)
    elif number is None and not isinstance(value, bool) and isinstance(value, (float, str)):
        real = _real(value, who)
        number = int(real) if math.isfinite(real) and real == int(real) else None
    if number is None:
        raise ValueError(f"{who}: got {value!r}, expected an integer")
    return number
