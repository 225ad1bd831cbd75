"""Plays a newcomer: clones Dragon into an empty home, runs the README's commands, a first program and a first mistake.

    python tools/newcomer.py [--source .] [--whole] [--keep]

Every step has a clock and an expectation; what a newcomer would stumble over (an exit status that was not expected,
words on the error stream, files left in the checkout) is printed as a surprise. `--whole` runs `make test` as well.
Exits with 1 if there were surprises.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MISTAKE = """\
import torch

layer = torch.nn.Conv2d(3, 8, 3)
print(layer(torch.zeros(1, 32, 32, 3)).shape)
"""


class Newcomer:
    """A home of one's own, a clock, and a list of surprises.

    Parameters
    ----------
    home : pathlib.Path
        An empty folder; nothing outside of it is written.

    """

    def __init__(self, home):
        self.checkout, self.surprises, self.total = home / "dragon", [], 0.0
        # Nothing of the machine's own settings and caches: no ccache, no packages kept by pip.
        self.environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8",
                            "PIP_NO_CACHE_DIR": "1", "CCACHE_DISABLE": "1"}

    def do(self, what, words, *, cwd=None, status=0, says=(), quiet=True, limit=1800):
        """Run a command, and compare what happens with what a newcomer expects.

        Parameters
        ----------
        what : str
            What the newcomer wants.
        words : Sequence[str]
            The command.
        cwd : pathlib.Path, optional
            Where it is run; in the checkout unless said.
        status : int, default=0
            The exit status expected.
        says : Sequence[str], optional
            Words that have to be printed.
        quiet : bool, default=True
            Whether words on the error stream are a surprise.
        limit : float, default=1800
            Seconds after which it is ended.

        """
        start = time.perf_counter()
        try:
            done = subprocess.run(words, cwd=cwd or self.checkout, env=self.environment, capture_output=True, text=True,
                                  timeout=limit)
            out, err, got = done.stdout, done.stderr, done.returncode
        except subprocess.TimeoutExpired:
            out, err, got = "", "", f"no end after {limit} s"
        seconds = time.perf_counter() - start
        self.total += seconds
        print(f"{seconds:8.1f} s  {what}", flush=True)
        found = [f"{what}: exit status {got}, not {status}: {err[-400:]}"] if got != status else []
        found += [f"{what}: does not say {word!r}" for word in says if word not in out + err]
        found += [f"{what}: said on the error stream: {err[:400]}"] if quiet and err.strip() else []
        self.surprises += found
        return out


def play(newcomer, source, whole):
    """Do what a newcomer does in the first ten minutes."""
    home = newcomer.checkout.parent
    newcomer.do("clone", ["git", "clone", "--quiet", str(source), "dragon"], cwd=home)
    newcomer.do("make demo", ["make", "demo"], quiet=False, says=["accuracy"])
    bin_folder = newcomer.checkout / ".venv/bin"
    python, dragon = str(bin_folder / "python"), str(bin_folder / "dragon")
    newcomer.do("import, in the checkout", [python, "-c", "import dragon; print(dragon.__version__)"], says=["0."])
    newcomer.do("import, elsewhere", [python, "-c", "import dragon; print(dragon.ones(2).sum())"], cwd=home, says=["2"])
    newcomer.do("a first program", [dragon, "run", "examples/train.py"], says=["unseen digits right"])
    (home / "mistake.py").write_text(MISTAKE, encoding="utf-8")
    newcomer.do("a first mistake", [dragon, "run", "mistake.py"], cwd=home, status=1, quiet=False,
                says=["mistake.py", "line 4", "channels"])
    newcomer.do("check it", [dragon, "check", "mistake.py"], cwd=home)
    newcomer.do("ask for help", [dragon, "--help"], says=["run", "check"])
    if whole:
        newcomer.do("make test", ["make", "test"], quiet=False, says=["passed"], limit=5400)
    left = newcomer.do("see what is left", ["git", "status", "--short"])
    if left.strip():
        newcomer.surprises.append(f"files in the checkout that git does not know: {left.strip()[:400]}")


def main():
    """Play, and tell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", default=str(ROOT), help="what is cloned")
    parser.add_argument("--whole", action="store_true", help="run make test as well")
    parser.add_argument("--keep", action="store_true", help="keep the folder, and say where it is")
    args = parser.parse_args()
    home = pathlib.Path(tempfile.mkdtemp(prefix="newcomer-"))
    newcomer = Newcomer(home)
    try:
        play(newcomer, args.source, args.whole)
    finally:
        if args.keep:
            print(f"kept in {home}")
        else:
            shutil.rmtree(home, ignore_errors=True)
    print(f"{newcomer.total / 60:8.1f} min in all, {len(newcomer.surprises)} surprises")
    for surprise in newcomer.surprises:
        print(f"* {surprise}")
    sys.exit(bool(newcomer.surprises))


if __name__ == "__main__":
    main()
