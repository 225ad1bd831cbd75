"""Write what is made: only where it is new."""


def write_if_new(path, text):
    """Write a file unless it says so already, so that pages that are the same are not read again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return path
