"""The rows of the operator table, loaded once for all who walk them."""
import functools
import importlib.util
import pathlib

from harness import engine

FOLDER = pathlib.Path(__file__).parents[1] / "ops"


@functools.lru_cache(maxsize=None)
def find_rows():
    """Return (rows, {file: error}) of all `rows*.py` of the table's folders."""
    rows, broken = [], {}
    for path in sorted(FOLDER.glob("*/rows*.py")):
        name = f"rows_of_{path.parent.name}_{path.stem}"
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except Exception as error:  # one broken file must not hide the other families
            broken[f"{path.parent.name}/{path.name}"] = error
            continue
        for row in module.ROWS:
            row.family = path.parent.name
            rows.append(row)
    return rows, broken


@functools.lru_cache(maxsize=None)
def load_rows():
    """Return the rows of all operators that there are."""
    known = set(engine.names())
    return [row for row in find_rows()[0] if row.call is not None or row.name in known]
