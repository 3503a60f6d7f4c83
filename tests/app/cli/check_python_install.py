#!/usr/bin/env python3
"""check_python_install.py PROGRAM SOURCES: installs a copy of the Python package with pip, as the manual describes, and runs
a model with what was installed; checks its annotations with mypy, if that is installed. Exits with 77 if NumPy, pip,
setuptools or wheel is not installed."""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

MISSING = [name for name in ("numpy", "pip", "setuptools", "wheel") if importlib.util.find_spec(name) is None]
if MISSING:
    print(f"skipped: {', '.join(MISSING)} is not installed (Debian: python3-{MISSING[0]})")
    sys.exit(77)
PROGRAM, SOURCES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
SCRIPT = """
import importlib.metadata, pathlib, headscope
model = headscope.Model("pocket")
run = model.run("The cat sat down")
print(pathlib.Path(headscope.__file__).parent, importlib.metadata.version("headscope"), run.weights[0][3].shape, len(run._repr_html_()) > 1000)
"""


def run(*words, **options):
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def main(folder):
    package = folder / "package"
    shutil.copytree(SOURCES / "assets/python", package, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    target = folder / "site"
    run("-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--no-deps", "--target", str(target), str(package))
    names = {path.name for path in (target / "headscope").iterdir()} - {"__pycache__"}
    assert names == {path.name for path in (SOURCES / "assets/python/headscope").iterdir()} - {"__pycache__"}, names
    environment = {**os.environ, "PYTHONPATH": str(target), "HEADSCOPE": PROGRAM, "HEADSCOPE_DEVICE": "cpu"}
    told = run("-c", SCRIPT, env=environment, cwd=folder).split(maxsplit=2)
    version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    assert told[0] == str(target / "headscope") and told[1] == version, told
    assert told[2].strip() == "(5, 5) True", told
    if importlib.util.find_spec("mypy") is None:
        return "without mypy"
    typed = folder / "typed.py"
    typed.write_text('import headscope\nrun = headscope.Model("pocket").run("a")\nnumber: int = run.tokens\n')
    done = subprocess.run([sys.executable, "-m", "mypy", f"--cache-dir={folder / 'mypy'}", str(typed)], capture_output=True, text=True, env=environment)
    assert 'expression has type "List[str]", variable has type "int"' in done.stdout, done.stdout
    run("-m", "mypy", f"--cache-dir={folder / 'mypy'}", str(package / "headscope"))
    return "with mypy"


with tempfile.TemporaryDirectory() as name:
    print("python: pip installs a package that runs a model,", main(pathlib.Path(name)))
