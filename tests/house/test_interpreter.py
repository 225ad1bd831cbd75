"""Programs that the harness forks from a server end, print and find themselves as those of a new interpreter."""
import os
import signal
import subprocess
import sys

import pytest

from harness import interpreter
from harness.durations import processor_seconds
from harness.waiting import is_gone, wait_for

PROGRAMS = {
    "words": ["-c", "import sys; print(sys.argv, sys.orig_argv[1:], sys.path[0], __name__)", "a", "-b"],
    "streams": ["-c", "import sys; print(sys.stdin.read() * 2); print(sys.stdout.isatty(), file=sys.stderr)"],
    "names": ["-c", "print(sorted(globals()))"],
    "folder and environment": ["-c", "import os; print(os.getcwd(), sorted(os.environ.items()))"],
    "a file": ["program.py", "word"],
    "a module": ["-m", "program", "word"],
    "a module that is not there": ["-m", "nothing"],
    "an error": ["-c", "def f():\n    g()\ndef g():\n    raise KeyError(3)\nf()"],
    "a cause": ["-c", "try:\n    1 / 0\nexcept ArithmeticError as error:\n    raise KeyError(3) from error"],
    "syntax": ["-c", "x ="],
    "a status": ["-c", "import sys; sys.exit(3)"],
    "last words": ["-c", "import sys; sys.exit('no')"],
    "at exit": ["-c", "import atexit; atexit.register(print, 'last'); 1 / 0"],
    "a hook": ["-c", "import sys; sys.excepthook = lambda *error: print('hook', error[0]); 1 / 0"],
    "an interrupt": ["-c", "raise KeyboardInterrupt"],
    "a signal": ["-c", "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"],
    "threads": ["-c", "import threading; threading.Timer(0.1, print, ['late']).start()"],
    "children": ["-c", "import multiprocessing; print(multiprocessing.get_context('fork').Pool(1).map(abs, [-1]))"],
    "spawned children": ["spawn.py"],
}
FILES = {"program.py": "import sys\nprint(sys.argv[1:], __file__, __spec__ and __spec__.name, sys.path[0])\n1 / 0\n",
         "spawn.py": "import multiprocessing\ndef work():\n    print('works', flush=True)\nif __name__ == '__main__':\n"
                     "    child = multiprocessing.get_context('spawn').Process(target=work)\n"
                     "    child.start()\n    child.join()\n"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_as_in_a_new_interpreter(name, tmp_path):
    for file, text in FILES.items():
        (tmp_path / file).write_text(text)
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MORE": "1", "PYTHONPATH": "/tmp:/more"}
    wanted = subprocess.run([sys.executable, *PROGRAMS[name]], cwd=tmp_path, env=env, input="text", capture_output=True,
                            text=True, timeout=60)
    found = interpreter.run(PROGRAMS[name], tmp_path, env=env, input="text", timeout=60, preload="import json, numpy")
    assert (found.returncode, found.stdout, found.stderr) == (wanted.returncode, wanted.stdout, wanted.stderr)


def test_each_program_has_a_state_of_its_own(tmp_path):
    code = "import json, numpy; print(hasattr(json, 'mark'), numpy.random.rand()); json.mark = 1"
    first, second = (interpreter.run(["-c", code], tmp_path, preload="import json, numpy").stdout for _ in range(2))
    assert first.startswith("False") and second.startswith("False") and first != second


def test_a_program_that_takes_too_long_is_killed(tmp_path):
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        interpreter.run(["-c", "import os, time; print(os.getpid(), flush=True); time.sleep(100)"], tmp_path, timeout=1)
    assert is_gone(int(caught.value.output))


def test_several_programs_run_at_the_same_time(tmp_path):
    programs = [interpreter.Program(["-c", "import time; print(1, flush=True); time.sleep(100)"], tmp_path)
                for _ in range(3)]
    assert all(program.has_written("1\n") and program.poll() is None for program in programs)
    for program in programs:
        program.send_signal(signal.SIGTERM)
    assert [program.wait(60) for program in programs] == [-signal.SIGTERM] * 3


def test_a_server_that_has_ended_is_started_again(tmp_path):
    env = {**os.environ, "DRAGON_OTHER": "1"}  # a server for this test alone
    program = interpreter.Program(["-c", "import time; time.sleep(100)"], tmp_path, env)
    server = list(interpreter._servers.values())[-1].process
    server.kill()
    with pytest.raises(interpreter.ServerEnded):
        program.wait(60)
    os.kill(program.pid, signal.SIGKILL)
    assert interpreter.run(["-c", "print(1)"], tmp_path, env=env).stdout == "1\n"


def test_programs_end_with_who_has_started_them(tmp_path):
    code = ("import os, sys, time\nfrom harness import interpreter\n"
            "program = interpreter.Program(['-c', 'import time; time.sleep(100)'], '/')\n"
            "print(program.pid, os.getppid(), flush=True)\ntime.sleep(100)\n")
    outer = interpreter.Program(["-c", code], tmp_path, {**os.environ, "PYTHONPATH": os.path.dirname(
        os.path.dirname(__file__))})
    assert outer.has_written("\n")
    outer.kill()
    assert wait_for(lambda: is_gone(int(outer.read("stdout").split()[0])))


def test_statements_that_fail_or_start_threads_are_refused(tmp_path):
    with pytest.raises(interpreter.ServerEnded, match="No module named 'nothing'"):
        interpreter.run(["-c", ""], tmp_path, preload="import nothing")
    threads = "import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
    with pytest.raises(interpreter.ServerEnded, match="has started 1 threads"):
        interpreter.run(["-c", ""], tmp_path, preload=threads)
    with pytest.raises(ValueError, match="expected -c, -m or a file first"):
        interpreter.run(["-W", "ignore", "program.py"], tmp_path)


def test_what_programs_take_is_counted_once(tmp_path):
    env = {**os.environ, "DRAGON_OTHER": "2"}  # a server for this test alone
    code = ("import subprocess, sys, time\nwhile time.process_time() < 0.3:\n    pass\n"
            "subprocess.run([sys.executable, '-c', 'import time\\nwhile time.process_time() < 0.3: pass'])")
    before = processor_seconds()
    interpreter.run(["-c", code], tmp_path, env=env)
    taken = processor_seconds() - before
    assert taken > 0.6
    list(interpreter._servers.values())[-1].end()
    assert processor_seconds() - before < 2 * taken
