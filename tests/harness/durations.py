"""How long each test takes, in seconds of a clock and of processors: kept where `--durations-file` says.

Those that take long without a mark that says why are named at the end.
"""
import json
import pathlib
import resource

import pytest

from harness import interpreter, quick


def processor_seconds():
    """Return the processor time of this process, of its children that have ended, and of programs of servers."""
    own, ended = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime + interpreter.program_seconds()


class Durations:
    """Measures tests where they run, and writes down what came of all where `pytest` was started."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.found = {}
        self.marked = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        item.began = processor_seconds()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item):
        report = yield
        if report.when == "teardown":
            report.user_properties.append(("processor_seconds", processor_seconds() - item.began))
            report.user_properties.append(("long", item.get_closest_marker("long") is not None))
        return report

    def pytest_runtest_logreport(self, report):
        wall, cpu = self.found.get(report.nodeid, (0.0, 0.0))
        told = dict(report.user_properties) if report.when == "teardown" else {}
        cpu += told.get("processor_seconds", 0.0)
        if told.get("long"):
            self.marked.add(report.nodeid)
        self.found[report.nodeid] = (wall + report.duration, cpu)

    def list_unmarked(self):
        """Return [(name, seconds of processors)] of tests that take long and have no mark that says why."""
        return [(name, cpu) for name, (_, cpu) in sorted(self.found.items())
                if cpu > quick.LONG and name not in self.marked]

    def pytest_terminal_summary(self, terminalreporter):
        for name, cpu in self.list_unmarked():
            terminalreporter.write_line(f"{name} took {cpu:.1f} s of processors, and no mark `long` says why")

    def pytest_sessionfinish(self, session):
        if hasattr(session.config, "workerinput"):
            return
        if self.path.suffix == ".tsv":
            quick.write_table(self.found, self.path)
            return
        rounded = {name: [round(wall, 3), round(cpu, 3)] for name, (wall, cpu) in sorted(self.found.items())}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(rounded, indent=0), encoding="utf-8")
