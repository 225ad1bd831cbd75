"""What a page says a line prints, held against what it printed: numbers as far as they are written out."""
import ast
import re

NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?|-?\d+e[+-]?\d+")


def agrees(expected, actual):
    """Return whether a text is the expected one.

    Space counts as one blank or none at the ends, `...` stands for anything, and a number with a point may differ by
    one in the last digit that is written.
    """
    expected, actual = (" ".join(text.split()) for text in (expected, actual))
    pattern, numbers = [], []
    for part in re.split(rf"(\.\.\.|{NUMBER.pattern})", expected):
        if part == "...":
            pattern.append(".*?")
        elif NUMBER.fullmatch(part):
            pattern.append(rf"({NUMBER.pattern}|-?\d+)")
            numbers.append(part)
        else:
            pattern.append(re.escape(part))
    found = re.fullmatch("".join(pattern), actual, re.DOTALL)
    return found is not None and all(is_near(*pair) for pair in zip(numbers, found.groups()))


def is_near(written, number):
    """Return whether a number is the written one, to one in its last digit."""
    digits, _, exponent = written.partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))
    return abs(float(written) - float(number)) <= 1.01 * unit


def is_claim(comment):
    """Return whether a comment is a value, as Python writes it, rather than words."""
    try:
        tree = ast.parse(comment.strip(), mode="eval")
    except (SyntaxError, ValueError):
        return False
    if isinstance(tree.body, ast.Constant) and isinstance(tree.body.value, str):
        return comment.strip()[0] in "'\""
    return any(isinstance(node, (ast.Constant, ast.List, ast.Dict)) for node in ast.walk(tree))
