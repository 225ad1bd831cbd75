"""Where a picture is shown: in the notebook that asked, in a browser, or as text."""
import os
import sys
import tempfile


def in_notebook():
    """Return whether the program runs in a notebook, which shows what is handed to it."""
    shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    return bool(shell) and getattr(shell, "kernel", None) is not None


def has_screen():
    """Return whether somebody sits at a terminal of a machine with a screen. DRAGON_BROWSER=0 says that none does."""
    asked = os.environ.get("DRAGON_BROWSER")
    if asked is not None:
        return asked != "0"
    seen = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform in ("darwin", "win32"))
    return seen and "SSH_CONNECTION" not in os.environ and bool(getattr(sys.stdout, "isatty", bool)())


def open_in_browser(page):
    """Open a page in a browser; return its file, or None where that fails."""
    import webbrowser
    try:
        number, path = tempfile.mkstemp(prefix="dragon-", suffix=".html")
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(page.html())
    except OSError:  # no room, or nowhere to write
        return None
    return path if webbrowser.open(f"file://{path}") else None


def show(page):
    """Show a page.

    Parameters
    ----------
    page : object
        What has `html()`, `text` and `_repr_html_`.

    """
    if in_notebook():
        from IPython.display import display
        return display(page)
    path = open_in_browser(page) if has_screen() else None
    print(page.text if path is None else f"{page.title}: {path}")
