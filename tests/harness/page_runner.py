"""Runs the steps of one page in one namespace: `python page_runner.py steps.json answers.json`, in an empty folder.

Python blocks and sessions share the namespace, as they do for a reader who copies one after the other. What a block
prints is kept; a comment behind an expression, or behind `print`, that is a value is held against what came.
"""
import ast
import contextlib
import doctest
import io
import json
import linecache
import pathlib
import subprocess
import sys
import tokenize
import traceback
import types

sys.path[0] = ""  # as for somebody who types: the folder at hand, not the one of this file


def load_claims():
    """Return the module of claims, which lies beside this file."""
    module = types.ModuleType("page_claims")
    source = pathlib.Path(__file__).with_name("page_claims.py")
    exec(compile(source.read_text(encoding="utf-8"), str(source), "exec"), vars(module))
    return module


CLAIMS = load_claims()


class Watch(ast.NodeTransformer):
    """Turns expressions with a claim behind them into calls that hold the one against the other."""

    def __init__(self, comments):
        self.comments = comments

    def visit_Expr(self, node):
        """Wrap an expression, or the function `print` of a call."""
        claim = self.comments.get(node.end_lineno)
        if claim is None:
            return node
        value, words = node.value, [ast.Constant(claim), ast.Constant(node.end_lineno)]
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "print":
            value.func = ast.Call(ast.Name("__print_claim__", ast.Load()), words, [])
        else:
            node.value = ast.Call(ast.Name("__value_claim__", ast.Load()), [value, *words], [])
        return ast.copy_location(node, node)


def read_comments(source):
    """Return the claims of a source by the lines they stand in."""
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    return {token.start[0]: token.string[1:].strip() for token in tokens
            if token.type == tokenize.COMMENT and token.line[:token.start[1]].strip()
            and CLAIMS.is_claim(token.string[1:])}


class Page:
    """The namespace of a page and what happened in it."""

    def __init__(self, path, figures):
        self.path, self.figures, self.drawn = path, figures, 0
        self.module = types.ModuleType("__main__")
        self.names = vars(self.module)
        self.names.update(__value_claim__=self.claim_value, __print_claim__=self.claim_print,
                          __builtins__=__builtins__)
        sys.modules["__main__"] = self.module
        self.wrong = []
        self.lines = []

    def claim_value(self, value, claim, line):
        """Hold the value of an expression against its comment."""
        if not CLAIMS.agrees(claim, repr(value)) and not CLAIMS.agrees(claim, str(value)):
            self.wrong.append(f"{self.path}: the page says {claim}, it is {value!r}")
        return value

    def claim_print(self, claim, line):
        """Return a `print` that holds what it prints against a comment."""
        def show(*words, **options):
            kept = io.StringIO()
            print(*words, **{**options, "file": kept})
            print(*words, **options)
            if not CLAIMS.agrees(claim, kept.getvalue()):
                self.wrong.append(f"{self.path}: the page says {claim}, it prints {kept.getvalue().strip()}")
        return show

    def run_python(self, step):
        """Run a block; the value of an expression at its end is shown, as in a notebook."""
        source, line = step["text"], step["line"]
        self.show_source(source, line)
        tree = ast.parse(source, self.path)
        tree = ast.fix_missing_locations(Watch(read_comments(source)).visit(tree))
        shown = step.get("cell") and not source.rstrip().endswith(";") and tree.body
        last = tree.body.pop().value if shown and isinstance(tree.body[-1], ast.Expr) else None
        ast.increment_lineno(tree, line - 1)
        exec(compile(tree, self.path, "exec"), self.names)
        if last is not None:
            value = eval(compile(ast.Expression(last), self.path, "eval"), self.names)
            if value is not None:
                print(repr(value))

    def show_source(self, source, line):
        """Let whoever reads functions' sources find a block in its lines of the page, and nothing but blocks."""
        lines = source.splitlines(keepends=True)
        self.lines += ["\n"] * (line - 1 + len(lines) - len(self.lines))
        self.lines[line - 1:line - 1 + len(lines)] = [*lines[:-1], lines[-1].rstrip("\n") + "\n"]
        linecache.cache[self.path] = (0, None, self.lines, self.path)

    def run_session(self, step):
        """Run a session and compare what it shows."""
        test = doctest.DocTestParser().get_doctest(step["text"], self.names, self.path, self.path, step["line"] - 1)
        test.globs = self.names
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        kept = io.StringIO()
        runner = doctest.DocTestRunner(verbose=False, optionflags=flags)
        runner.run(test, out=kept.write, clear_globs=False)
        if runner.failures:
            self.wrong.append(kept.getvalue())

    def run_commands(self, step):
        """Run commands in a shell that stops at the first one that fails."""
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", step["text"]], capture_output=True, text=True)
        sys.stdout.write(done.stdout)
        if done.returncode != step.get("status", 0):
            self.wrong.append(f"{self.path}:{step['line']}: ended with {done.returncode}\n{done.stdout[-2000:]}"
                              f"{done.stderr[-3000:]}")

    def run_file(self, step):
        """Write a file that the page shows."""
        file = pathlib.Path(step["name"])
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(step["text"], encoding="utf-8")

    def run_check(self, step):
        """Evaluate what the words of the page say."""
        if not eval(compile(step["text"], self.path, "eval"), self.names):
            self.wrong.append(f"{self.path}:{step['line']}: {step['text']} does not hold")

    def keep_figures(self):
        """Count what was drawn, keep it where somebody wants to look, and close it, as a notebook does."""
        plots = sys.modules.get("matplotlib.pyplot")
        for number in plots.get_fignums() if plots else ():
            self.drawn += 1
            if self.figures:
                name = f"{pathlib.Path(self.path).stem}-{self.drawn}.png"
                plots.figure(number).savefig(pathlib.Path(self.figures) / name, dpi=70, bbox_inches="tight")
            plots.close(number)

    def run(self, step):
        """Run a step; return what it printed and what is wrong with it."""
        self.wrong, kept = [], io.StringIO()
        try:
            with contextlib.redirect_stdout(kept):
                getattr(self, f"run_{step['kind']}")(step)
        except BaseException as error:  # a page that ends the process is as wrong as one that raises
            places = traceback.format_exception(error)
            self.wrong.append(f"{self.path}:{step['line']}: {''.join(places)[-4000:]}")
        printed = kept.getvalue()
        expected = step.get("output")
        if expected is not None and not self.wrong and not CLAIMS.agrees(expected, printed):
            self.wrong.append(f"{self.path}:{step['line']}: the page says\n{expected}\nit prints\n{printed}")
        self.keep_figures()
        return {"line": step["line"], "printed": printed, "wrong": self.wrong}


def main():
    """Run the steps, stop at the first that is wrong, and leave the answers."""
    work = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    page, answers = Page(work["path"], work.get("figures")), []
    answers_file = pathlib.Path(sys.argv[2])
    sys.argv = [""]
    for step in work["steps"]:
        answers.append(page.run(step))
        answers_file.write_text(json.dumps({"answers": answers, "figures": page.drawn}), encoding="utf-8")
        if answers[-1]["wrong"]:
            break
    sys.stdout.flush()


if __name__ == "__main__":
    main()
