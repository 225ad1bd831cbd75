"""A table of measurements: a row for each statement, a column for each description."""
import enum

from dragon.vm.torch.utils.benchmark.common import ordered_unique, select_unit, trim_sigfig, unit_to_english

BEST, GOOD, BAD, WORST, BOLD, END = (f"\033[{code}m" for code in ("92", "34", "2m\033[91", "31", "1", "0"))
# A time this many times the best one of its column or row is bad, and very bad.
BOUNDS = ((1.0, BEST), (1.1, GOOD), (1.25, ""), (1.5, BAD))


class Colorize(enum.Enum):
    """Among which times the best ones are coloured."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


class Compare:
    """Print measurements side by side.

    Parameters
    ----------
    results : Sequence[Measurement]
        What was measured; those of one statement, description, environment and number of threads are joined.

    """

    def __init__(self, results):
        self._results, self._trim, self._colors, self._highlight = [], False, Colorize.NONE, False
        self.extend_results(results)

    def __str__(self):
        return "\n".join(self._render())

    def extend_results(self, results):
        """Add measurements."""
        from dragon.vm.torch.utils.benchmark.timer import Measurement
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError("Expected an instance of `Measurement`, " f"got {type(result)} instead.")
        self._results.extend(results)

    def trim_significant_figures(self):
        """Print as many figures as the measurements' spread allows."""
        self._trim = True

    def colorize(self, rowwise=False):
        """Colour times by the best one of their column, or row."""
        self._colors = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self):
        """Show spreads beside times that vary much."""
        self._highlight = True

    def print(self):
        """Print the table."""
        print(str(self))

    def _render(self):
        from dragon.vm.torch.utils.benchmark.timer import Measurement
        merged = Measurement.merge(self._results)
        text = []
        for label in ordered_unique(one.task_spec.label for one in merged):
            group = [one for one in merged if one.task_spec.label == label]
            text.append(self._table(label, group))
        return text

    def _table(self, label, results):
        unit, scale = select_unit(min(one.median for one in results))
        rows = ordered_unique((one.task_spec.num_threads, one.task_spec.env, one.as_row_name) for one in results)
        columns = ordered_unique(one.task_spec.description for one in results)
        found = {(one.task_spec.num_threads, one.task_spec.env, one.as_row_name, one.task_spec.description): one
                 for one in results}
        lines, threads = [["", *map(str, columns)]], None
        table = [[found.get((*row, column)) for column in columns] for row in rows]
        for row, times in zip(rows, table):
            if row[0] != threads:
                threads = row[0]
                lines.append([f"{threads} threads: "])
            name = f"({row[1]}) {row[2]}" if row[1] is not None else row[2]
            lines.append(["  " + name, *(self._cell(place, times, table, scale) for place in range(len(times)))])
        first = max(len(line[0]) for line in lines)
        widths = [max(len(_plain(line[place])) for line in lines if len(line) > 1) for place in range(1, len(lines[0]))]
        whole = first + sum(width + 5 for width in widths) + 2
        title = f" {label} " if label else ""
        made = ["[" + title.center(whole - 2, "-") + "]"]
        for line in lines:
            if len(line) == 1:
                made.append(line[0] + "-" * (whole - len(line[0])))
            else:
                cells = [" " * (width - len(_plain(cell))) + cell for cell, width in zip(line[1:], widths)]
                made.append("  |  ".join([line[0].ljust(first), *cells]))
        english = unit_to_english(unit)
        return "\n".join([*made, "", f"Times are in {english}s ({unit}).", ""])

    def _cell(self, place, times, table, scale):
        one = times[place]
        if one is None:
            return ""
        value = one.median / scale
        value = trim_sigfig(value, one.significant_figures) if self._trim else value
        text = f"{value:.1f}"
        if self._highlight and one.median and one.iqr / one.median > 0.1:
            text += f" (! {one.iqr / one.median * 100:.0f}%)"
        if self._colors is Colorize.NONE:
            return text
        others = times if self._colors is Colorize.ROWWISE else [row[place] for row in table]
        ratio = one.median / min(other.median for other in others if other is not None)
        color = next((color for bound, color in BOUNDS if ratio <= bound), WORST)
        return f"{color}{text}{END}" if color else text


def _plain(text):
    """Return a text without its colours."""
    for mark in (BEST, GOOD, BAD, WORST, BOLD, END):
        text = text.replace(mark, "")
    return text
