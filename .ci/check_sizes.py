#!/usr/bin/env python3
"""Fails when a header has more than 150 lines or a source more than 500, unless one of its first 12 lines gives the reason,
and when a folder of the program has more than 35 sources and headers."""
import collections
import pathlib
import subprocess
import sys

LIMITS = {".h": 150, ".cpp": 500, ".comp": 500}
REASON = "Longer than"
MOST_IN_A_FOLDER = 35


def main():
    names = subprocess.run(["git", "ls-files", "core", "app", "tests", "assets"], check=True, capture_output=True,
                           text=True).stdout.split("\n")
    faults = []
    folders = collections.Counter()
    for name in filter(None, names):
        path = pathlib.Path(name)
        limit = LIMITS.get(path.suffix)
        if limit is None or not path.exists():
            continue
        if path.parts[0] in ("core", "app"):
            folders[str(path.parent)] += 1
        lines = path.read_text(encoding="utf-8").split("\n")
        if len(lines) > limit and REASON not in "\n".join(lines[:12]):
            faults.append(f"{name} has {len(lines)} lines; the limit is {limit}")
    faults += [f"{folder} has {count} sources and headers; the limit is {MOST_IN_A_FOLDER}"
               for folder, count in sorted(folders.items()) if count > MOST_IN_A_FOLDER]
    print("\n".join(faults) if faults else "sizes: clean")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
