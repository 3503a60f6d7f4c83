#!/usr/bin/env python3
"""Fails when a source is missing in its CMakeLists.txt: it would not be compiled, and its tests would not run."""
import pathlib
import subprocess
import sys

LISTED = {"core": "core", "app": "app", "tests/core": "tests", "tests/app": "tests", "tests/conformance": "tests",
          "tests/gui": "tests/gui", "tests/vulkan": "tests/vulkan", "tests/bench": "tests/bench"}  # fmt: skip


def main():
    names = subprocess.run(["git", "ls-files", "*.cpp"], check=True, capture_output=True, text=True).stdout.split()
    lists = {folder: pathlib.Path(folder, "CMakeLists.txt").read_text(encoding="utf-8").split() for folder in LISTED.values()}
    faults = []
    for name in names:
        folder = next((folder for part, folder in LISTED.items() if name.startswith(part + "/")), None)
        if folder is None or not pathlib.Path(name).exists():
            continue
        below = name.removeprefix(folder + "/")
        if not any(word.rstrip(")") == below for word in lists[folder]):
            faults.append(f"{name} is missing in {folder}/CMakeLists.txt")
    print("\n".join(faults) if faults else "sources: all are listed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
