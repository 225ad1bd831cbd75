"""Put plots on the pages of benchmarks when they are read: of the figures that stand in the page's own tables."""
import csv
import math
import re

from makers.charts import draw_bars, draw_lines
from makers.doors import DOCS

FOLDER = DOCS / "benchmarks"
HISTORY = FOLDER / "history.csv"
UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
# What a case of a table is called beyond another one: a second series, not a second row.
SUFFIXES = (", recorded", ", forward and backward")
NETS = {"mlp": "Perceptron", "cnn": "Convolutions, 28²", "resnet18": "ResNet-18", "resnet50": "ResNet-50",
        "lstm": "LSTM", "gpt": "GPT", "vit": "Vision transformer"}
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*")


def parse_tables(text):
    """Return the tables of a text in Markdown, each a list of {column: cell}."""
    tables, head = [], None
    for line in text.splitlines():
        cells = [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            head = None
        elif head is None:
            head = cells
            tables.append([])
        elif not set(line) <= set("|-: "):
            tables[-1].append(dict(zip(head, cells)))
    return tables


def read_tables(page):
    """Return the tables of a page."""
    return parse_tables((FOLDER / f"{page}.md").read_text(encoding="utf-8"))


def read_number(cell):
    """Return the first number of a cell, a time in seconds; None if there is none."""
    found = NUMBER.match(cell or "")
    if not found:
        return None
    unit = cell[found.end():].strip()
    return float(found[0].replace(",", "")) * UNITS.get(unit, 1.0)


def mean(values):
    """Return the geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def draw_ratios(page):
    """Draw how long Dragon takes beside PyTorch, case by case; of many cases, group by group."""
    table = [row for row in read_tables(page)[0] if read_number(row.get("dragon / PyTorch"))]
    found, suffixes = {}, [""]
    if len(table) > 40:
        for row in table:
            found.setdefault(row["case"].split(",")[0], []).append(read_number(row["dragon / PyTorch"]))
        rows = [(f"{name}: mean of {len(values)} cases", [mean(values)]) for name, values in found.items()]
        return draw_bars("Time of Dragon divided by PyTorch's: less is faster", rows, ["ratio"], "", (1, "PyTorch"))
    for row in table:
        suffix = next((suffix for suffix in SUFFIXES if row["case"].endswith(suffix)), "")
        suffixes += [suffix] if suffix not in suffixes else []
        found.setdefault(row["case"].removesuffix(suffix), {})[suffix] = read_number(row["dragon / PyTorch"])
    rows = [(name, [values.get(suffix) for suffix in suffixes]) for name, values in found.items()]
    series = ["forward" if any("forward" in suffix for suffix in suffixes) else "not recorded",
              *(suffix.lstrip(", ") for suffix in suffixes[1:])]
    return draw_bars("Time of Dragon divided by PyTorch's: less is faster", rows, series, "", (1, "PyTorch"))


def draw_columns(page, title, label, columns, unit="", reference=None, table=0):
    """Draw some columns of a page's table beside each other; `columns` is {column: what it is called}."""
    rows = [(" ".join(row[name] for name in label), [read_number(row[name]) for name in columns])
            for row in read_tables(page)[table]]
    rows = [row for row in rows if any(value is not None for value in row[1])]
    return draw_bars(title, rows, list(columns.values()), unit, reference)


def draw_products():
    """Draw what square matrix products reach, over their size."""
    sizes, series = [], {"Dragon": [], "PyTorch": [], "this machine's limit": []}
    columns = dict(zip(series, ("dragon", "PyTorch", "machine's limit")))
    for row in read_tables("gemm")[0]:
        found = re.fullmatch(r"float32, (\d+)³", row["case"])
        if found:
            sizes.append(f"{found[1]}³")
            for name, column in columns.items():
                series[name].append(2 * int(found[1]) ** 3 / read_number(row[column]) / 1e9)
    return draw_lines("float32 products of square matrices, GFLOP/s over their size: more is faster", sizes, series)


def draw_epochs():
    """Draw an epoch of each net under each backend of Keras."""
    sides, found = [], {}
    for row in read_tables("keras")[0]:
        sides += [row["side"]] if row["side"] not in sides else []
        found.setdefault(row["net"], {})[row["side"]] = read_number(row["epoch ms"])
    rows = [(net, [values.get(side) for side in sides]) for net, values in found.items()]
    names = {"dragon": "Dragon", "tensorflow": "on TensorFlow", "jax": "on JAX", "torch": "on PyTorch"}
    return draw_bars("An epoch of Keras's fit, milliseconds: less is faster", rows, [names[side] for side in sides],
                     " ms")


def read_training():
    """Return (net, [time, memory]) of training steps, divided by PyTorch's."""
    return [(NETS[row["net"]], [read_number(row["ratio"]),
                                read_number(row["Dragon MiB"]) / read_number(row["PyTorch MiB"])])
            for row in read_tables("torch")[0]]


def draw_training():
    """Draw time and memory of training steps beside PyTorch's."""
    return draw_bars("A training step of Dragon divided by PyTorch's: less is better", read_training(),
                     ["time", "memory"], "", (1, "PyTorch"))


def draw_history():
    """Draw the ratios of the tables over the commits that changed them, for each machine by itself."""
    with HISTORY.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    pictures = []
    for machine in dict.fromkeys(line["machine"] for line in lines):
        own = [line for line in lines if line["machine"] == machine]
        places = list(dict.fromkeys(f"{line['date'][5:]} {line['commit'][:4]}" for line in own))
        series = {}
        for line in own:
            place = places.index(f"{line['date'][5:]} {line['commit'][:4]}")
            series.setdefault(line["group"], [None] * len(places))[place] = float(line["mean_ratio"])
        pictures.append(draw_lines(f"Geometric means of Dragon's time divided by PyTorch's over commits; {machine}",
                                   places, series))
    return "".join(pictures)


RATIOS = ("attention", "convolution", "dispatch", "memory", "reduction", "training")
PLOTS = {
    **{page: [lambda page=page: draw_ratios(page)] for page in RATIOS},
    "gemm": [draw_products, lambda: draw_ratios("gemm")],
    "torch": [draw_training],
    "keras": [draw_epochs],
    "compile": [lambda: draw_columns(
        "compile", "A compiled training step of Dragon divided by PyTorch's: less is faster", ["net"],
        {"step / PyTorch": "beside PyTorch", "step / PyTorch compile": "beside its torch.compile"}, "",
        (1, "PyTorch"))],
    "inference": [lambda: draw_columns(
        "inference", "Time of Dragon divided by another engine's: less is faster", ["net", "batch"],
        {"dragon / onnxruntime": "beside ONNX Runtime", "dragon / openvino": "beside OpenVINO",
         "dragon / torch": "beside PyTorch"}, "", (1, "the other"))],
    "loading": [lambda: draw_columns(
        "loading", "Images a second over the number of workers: more is faster", ["workers"],
        {"Dragon, images/s": "Dragon", "PyTorch, images/s": "PyTorch"})],
    "fusion": [lambda: draw_columns(
        "fusion", "Chains of pointwise operators, milliseconds: less is faster", ["calls"],
        {"one pass over memory": "one pass over memory", "fused": "fused", "one by one": "one by one"})],
    "eager_memory": [lambda: draw_columns(
        "eager_memory", "Time of Dragon divided by PyTorch's: less is faster", ["net", "batch", ""],
        {"time, Dragon / PyTorch": "time"}, "", (1, "PyTorch"))],
    "index": [draw_training, draw_history],
    "first_minutes": [lambda: draw_columns(
        "first_minutes", "Whole programs, import and data included, seconds: less is faster", ["program"],
        {"Dragon s": "dragon run", "genuine s": "the genuine framework"}, " s")],
}


def insert(app, docname, source):
    """Put a page's plots above its first table, or above its second heading where it has none."""
    folder, _, page = docname.rpartition("/")
    if folder != "benchmarks" or page not in PLOTS:
        return
    block = "```{raw} html\n" + "\n".join(draw() for draw in PLOTS[page]) + "\n```\n\n"
    place = re.search(r"^\||^## ", source[0], re.MULTILINE)
    source[0] = source[0][:place.start()] + block + source[0][place.start():] if place else source[0] + "\n" + block


def setup(app):
    """Listen to pages being read."""
    app.connect("source-read", insert)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
