#!/usr/bin/env python3
"""Runs every fuzz target for a given processor time and prints one row per target.

    cmake --preset fuzz && cmake --build --preset fuzz
    tests/campaigns/fuzz.py build/fuzz/tests/fuzz FOUND_FOLDER --minutes 30 [--targets gguf,lesson] [--jobs 2]

FOUND_FOLDER keeps the inputs that each target found, so that a second campaign continues the first, and the inputs that
failed. The limit is processor time, not wall time: on a busy machine a campaign takes longer but tests as much. The exit
status is 1 if a target failed."""
import argparse
import concurrent.futures
import pathlib
import re
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLICE_S = 120


def seeds(target):
    """Returns the folders of inputs that the repository has for a target."""
    folders = [ROOT / "tests/data/corpus" / target]
    if target == "attention":
        folders.append(ROOT / "tests/data/attention")
    return [str(folder) for folder in folders if folder.is_dir()]


def campaign(binary, target, found, seconds):
    """Runs one target in slices; returns processor seconds, runs, and the last lines of a failure or None."""
    corpus = found / target
    corpus.mkdir(parents=True, exist_ok=True)
    spent, runs = 0.0, 0
    while spent < seconds:
        command = ["/usr/bin/env", "time", "-f", "processor %U %S", str(binary), "-max_total_time=%d" % SLICE_S, "-timeout=60",
                   "-rss_limit_mb=3000", "-print_final_stats=1", "-artifact_prefix=%s/failed-%s-" % (found, target),
                   str(corpus), *seeds(target)]
        result = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
        times = re.search(r"processor ([\d.]+) ([\d.]+)", result.stderr)
        spent += sum(float(part) for part in times.groups())
        units = re.search(r"stat::number_of_executed_units:\s*(\d+)", result.stderr)
        runs += int(units.group(1)) if units else 0
        if result.returncode != 0:
            return spent, runs, "\n".join(result.stderr.splitlines()[-30:])
    return spent, runs, None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("found", type=pathlib.Path)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--targets", type=lambda names: names.split(","))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    targets = options.targets or sorted(path.name.removeprefix("fuzz_") for path in options.binaries.glob("fuzz_*"))
    failed = False

    def one(target):
        return target, campaign(options.binaries / ("fuzz_" + target), target, options.found, 60 * options.minutes)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for target, (spent, runs, failure) in pool.map(one, targets):
            print("| %s | %.0f min | %s | %s |" % (target, spent / 60, f"{runs:,}", "failed" if failure else "none"), flush=True)
            if failure:
                failed = True
                print(failure, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
