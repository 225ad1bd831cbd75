"""How long each test takes, in seconds of a clock and of processors: kept where `--durations-file` says."""
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

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        item.began = processor_seconds()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item):
        report = yield
        if report.when == "teardown":
            report.user_properties.append(("processor_seconds", processor_seconds() - item.began))
        return report

    def pytest_runtest_logreport(self, report):
        wall, cpu = self.found.get(report.nodeid, (0.0, 0.0))
        cpu += dict(report.user_properties).get("processor_seconds", 0.0) if report.when == "teardown" else 0.0
        self.found[report.nodeid] = (wall + report.duration, cpu)

    def pytest_sessionfinish(self, session):
        if hasattr(session.config, "workerinput"):
            return
        if self.path.suffix == ".tsv":
            quick.write_table(self.found, self.path)
            return
        rounded = {name: [round(wall, 3), round(cpu, 3)] for name, (wall, cpu) in sorted(self.found.items())}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(rounded, indent=0), encoding="utf-8")
