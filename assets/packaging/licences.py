#!/usr/bin/env python3
"""licences.py FOLDER: writes the license of every library and font in an archive below
FOLDER/share/doc/headscope/licences, one file per Debian package, copied from the package's copyright file."""
import pathlib
import subprocess
import sys


def packages_of(names):
    """Yields the installed packages that contain files with these names, in any folder."""
    for name in names:
        found = subprocess.run(["dpkg-query", "--search", f"*/{name}"], capture_output=True, text=True).stdout
        packages = {line.split(":")[0] for line in found.splitlines() if line.endswith(f"/{name}")}
        if not packages:
            sys.exit(f"licences.py: no package has {name}; the archive cannot say under which licence it is")
        yield from packages


def main():
    root = pathlib.Path(sys.argv[1])
    held = [file for folder in ("lib/headscope", "share/headscope/fonts") for file in (root / folder).iterdir()]
    licences = root / "share/doc/headscope/licences"
    licences.mkdir(parents=True, exist_ok=True)
    for package in sorted(set(packages_of(file.name for file in held))):
        text = pathlib.Path("/usr/share/doc", package, "copyright").read_text(encoding="utf-8")
        (licences / package).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
