"""Walk rows at the edges in all their dtypes, each in a process of its own: `PYTHONPATH=tests python -m
harness.edge_hunt [pattern] [--dtypes float16,int8] [--limit samples]`. What kills a process is told, and no end."""
import argparse
import os
import re
import signal
import sys
import warnings


def walk(row, dtype, limit, shown):
    """Print what differs for a row in a dtype, but for known differences."""
    from harness import edge_checks
    from ops.edge_differences import is_known
    signal.alarm(120)
    count = 0
    for title, words in edge_checks.check(row, dtype, compiled=True, gradient=True, limit=limit):
        line = f"{title} | {words}"
        if is_known(row, dtype, line):
            continue
        count += 1
        if count <= shown:
            print(line[:400], flush=True)
    if count > shown:
        print(f"  ... {count} in all for {row} in {dtype}", flush=True)


def main():
    """Walk what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--dtypes", default="")
    parser.add_argument("--limit", type=int, default=4)
    parser.add_argument("--shown", type=int, default=4)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    import dragon
    from harness import oracle
    from harness.rows import load_rows
    oracle.need_torch()
    dragon.ops.mul(dragon.ops.ones([1]), 2.0)  # so that children find the kernels loaded
    wanted = set(filter(None, given.dtypes.split(",")))
    for row in load_rows():
        if row.random or not re.search(given.pattern, str(row)):
            continue
        for dtype in row.dtypes:
            if wanted and dtype not in wanted:
                continue
            child = os.fork()
            if child == 0:
                try:
                    walk(row, dtype, given.limit, given.shown)
                finally:
                    sys.stdout.flush()
                    os._exit(0)
            _, status = os.waitpid(child, 0)
            if status:
                print(f"{row} in {dtype}: its process ended with status {status}", flush=True)


if __name__ == "__main__":
    main()
