"""Write how much of its guests' public APIs Dragon has, name by name: the pages `<guest>/coverage`."""
import collections
import difflib
import html
import inspect

from makers.doors import DOCS, GUESTS, MISSING, TITLES, find, genuine_names, is_stand_in
from makers.files import write_if_new
from makers.instead import advise

COUNTED = {
    "torch": "public names of PyTorch 2.13 (functions, classes and methods; parts of its compiler are left out)",
    "keras": "public names of Keras 3.15 (functions, classes and constants)",
    "tensorflow": "public names of TensorFlow 2.21 (functions, classes and constants; <code>raw_ops</code>, "
                  "<code>compat.v1</code> and Google's own hardware are left out)",
    "dali": "public names of DALI 2.4 (operators as functions and classes, types, pipelines, iterators for PyTorch; "
            "its plugins for TensorFlow, JAX and Numba are left out)",
}
STATES = ("there", "partly", "missing")
MEANING = {"there": "there", "partly": "there in part: the note says what is not", "missing": "missing"}


def genuine_arguments(guest):
    """Return {name: names of its parameters} of the genuine framework, as far as they can be asked for."""
    path = DOCS / guest / "arguments.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {words[0]: words[1:] for words in map(str.split, lines)}


def lacking(value, expected):
    """Return the genuine parameters that an object of ours does not take."""
    try:
        parameters = inspect.signature(value).parameters
    except (TypeError, ValueError, AttributeError):
        return []
    if any(parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL) for parameter in parameters.values()):
        return []
    return [name for name in expected if name not in parameters]


def judge(path, expected, present):
    """Return (state, note) of a name.

    Parameters
    ----------
    path : str
        The genuine name, such as "torch.nn.Conv2d".
    expected : List[str]
        The genuine parameters.
    present : Dict[str, List[str]]
        The names that each module has here, among which the nearest is looked for.

    Returns
    -------
    Tuple[str, str]
        "there", "partly" or "missing", and what to know.

    """
    value = find(path)
    if value is MISSING:
        module, _, name = path.rpartition(".")
        near = difflib.get_close_matches(name, present.get(module, ()), 1, 0.75)
        return "missing", advise(path) or (f"the nearest name is {module}.{near[0]}" if near else "")
    if is_stand_in(path):
        return "partly", "; ".join(filter(None, ("can be imported and asked for; using it raises", advise(path))))
    absent = lacking(value, expected)
    return ("partly", f"does not take {', '.join(absent)}") if absent else ("there", "")


def judge_all(guest):
    """Return [(name, state, note)] of a guest's names."""
    names, arguments, present = genuine_names(guest), genuine_arguments(guest), collections.defaultdict(list)
    for path in names:
        if find(path) is not MISSING:
            module, _, name = path.rpartition(".")
            present[module].append(name)
    return [(path, *judge(path, arguments.get(path, ()), present)) for path in names]


def write_rows(guest, rows):
    """Return the rows of the table; what is there leads to its page."""
    lines = []
    for path, state, note in rows:
        module = path.rpartition(".")[0]
        shown = html.escape(path.replace("tensorflow", "tf", 1))
        is_entry = state == "there" and (DOCS / f"api/generated/{guest}/{module}.rst").exists()
        target = f"../api/generated/{guest}/{module}.html#{path}"
        name = f'<a href="{target}"><code>{shown}</code></a>' if is_entry and anchor(path) else f"<code>{shown}</code>"
        lines.append(f'<tr data-state="{state}"><td>{name}</td><td class="state-{state}">{state}</td>'
                     f"<td>{html.escape(note)}</td></tr>")
    return lines


def anchor(path):
    """Return whether a name's own page has an anchor for it: it is no module and no class with a page of its own."""
    return path not in ("torch.Tensor",) and not inspect.ismodule(find(path))


def write_bar(counts):
    """Return a bar of the three states, with its text."""
    total = sum(counts.values())
    parts = "".join(f'<span class="bar-{state}" style="width:{counts[state] / total:.2%}"></span>' for state in STATES)
    return f'<span class="bar" role="img" aria-label="{say(counts)}">{parts}</span>'


def say(counts):
    """Return the three counts in words."""
    return ", ".join(f"{counts[state]} {state}" for state in STATES)


def write_modules(rows):
    """Return a table of modules with their counts."""
    groups = collections.defaultdict(collections.Counter)
    for path, state, _ in rows:
        groups[path.rpartition(".")[0]][state] += 1
    lines = ['<table class="table counts"><thead><tr><th scope="col">module</th><th scope="col">names</th>'
             '<th scope="col">there</th><th scope="col">partly</th><th scope="col">missing</th>'
             '<th scope="col">share</th></tr></thead><tbody>']
    for module, counts in sorted(groups.items()):
        cells = "".join(f"<td>{counts[state]}</td>" for state in STATES)
        lines.append('<tr><th scope="row"><button type="button" class="module">'
                     f'{module.replace("tensorflow", "tf", 1)}</button></th><td>{sum(counts.values())}</td>'
                     f"{cells}<td>{write_bar(counts)}</td></tr>")
    return [*lines, "</tbody></table>"]


def write_filter(what):
    """Return the box and the switches that choose rows; they work where scripts do, all rows show where not."""
    switches = "".join(f'<label><input type="checkbox" name="state" value="{state}" checked> {MEANING[state]}</label>'
                       for state in STATES)
    return ['<form class="filter" role="search" aria-label="Names in the table">',
            f'<label class="wide">Show {what} that contain <input type="search" name="text" autocomplete="off" '
            'spellcheck="false" placeholder="conv2d"></label>', switches,
            '<output class="found" aria-live="polite"></output></form>']


def write_page(guest, rows):
    """Return the text of a guest's page."""
    counts = collections.Counter(state for _, state, _ in rows)
    title = TITLES[guest]
    text = (f"<p>Of {len(rows)} {COUNTED[guest]}, <strong>{counts['there']}</strong> "
            f"({counts['there'] / len(rows):.1%}) are there, {counts['partly']} in part, {counts['missing']} are "
            "missing. A name that is missing raises an <code>AttributeError</code> that names itself and its nearest "
            "relative; an argument that is missing raises too.</p>")
    return "\n".join([f"# Coverage of {title}'s names", "", "```{raw} html", text, write_bar(counts), "```", "",
                      "## Find a name", "", "```{raw} html", *write_filter("names"),
                      '<div class="names-box" role="region" tabindex="0" aria-label="Names and their states">'
                      '<table class="table names"><thead><tr><th scope="col">name</th><th scope="col">state</th>'
                      '<th scope="col">note</th></tr></thead><tbody>', *write_rows(guest, rows),
                      "</tbody></table></div>", "```", "", "## By module", "",
                      "A module's name fills the box above.", "", "```{raw} html", '<div class="wide-box" '
                      'role="region" tabindex="0" aria-label="Counts by module">', *write_modules(rows), "</div>",
                      "```"]) + "\n"


def write_coverage(app=None):
    """Write the pages of all guests, and the table that the first page of coverage shows."""
    lines = ['<table class="table counts"><thead><tr><th scope="col">framework</th><th scope="col">names</th>'
             '<th scope="col">there</th><th scope="col">partly</th><th scope="col">missing</th>'
             '<th scope="col">share</th></tr></thead><tbody>']
    for guest in GUESTS:
        rows = judge_all(guest)
        write_if_new(DOCS / guest / "coverage.md", write_page(guest, rows))
        counts = collections.Counter(state for _, state, _ in rows)
        cells = "".join(f"<td>{counts[state]}</td>" for state in STATES)
        lines.append(f'<tr><th scope="row"><a href="../{guest}/coverage.html">{TITLES[guest]}</a></th>'
                     f"<td>{len(rows)}</td>{cells}<td>{write_bar(counts)}</td></tr>")
    write_if_new(DOCS / "coverage" / "counts.inc", "\n".join([*lines, "</tbody></table>"]) + "\n")


if __name__ == "__main__":
    write_coverage()
