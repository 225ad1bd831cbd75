"""Time of DALI's operators here, beside the Dragon of another checkout, in turns; ratios are of a round.

    python benchmarks/dali_operators.py --against ../before [--rounds 5] [--case resize]
"""
import argparse
import pathlib
import statistics

import harness
from cases import dali

SECONDS = 0.4  # of a turn


def main():
    """Parse the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=pathlib.Path, required=True, metavar="FOLDER",
                        help="a checkout, built in place")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--case", default="", help="only cases whose name contains this")
    parser.add_argument("--nice", type=int, default=0)
    args = parser.parse_args()
    workers = [harness.Worker("dragon", args.nice, pathlib.Path(__file__).resolve().parents[1]),
               harness.Worker("dragon", args.nice, args.against)]
    try:
        for case in dali.CASES:
            if args.case in case.name:
                mine, other = harness.measure(case, "dali", workers, args.rounds, SECONDS)
                if "error" in mine or "error" in other:
                    print(f"{case.name}: {mine.get('error', '')} | {other.get('error', '')}")
                    continue
                ratio = statistics.median(after / before for after, before in zip(mine["times"], other["times"]))
                print(f"{case.name:32} {statistics.median(mine['times']) * 1e3:8.2f} ms   "
                      f"{statistics.median(other['times']) * 1e3:8.2f} ms   {ratio:.2f}", flush=True)
    finally:
        for worker in workers:
            worker.close()


if __name__ == "__main__":
    main()
