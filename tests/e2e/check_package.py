#!/usr/bin/env python3
"""check_package.py BUILD SOURCES: makes the Debian package of a build folder with cpack and checks it with independent
tools: its dependencies with dpkg, its desktop files with the desktop's validators, the manual page with groff. Then the
unpacked program renders a figure and opens a window. Exits with 77 (skipped) if one of the tools is missing."""
import configparser
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

import desktop
import numpy
from desktop import Failure

TOOLS = ("cpack", "dpkg-deb", "dpkg-shlibdeps", "dpkg-parsechangelog", "file", "objdump", "desktop-file-validate",
         "appstreamcli", "update-mime-database", "rsvg-convert", "convert", "groff", "xprop")  # fmt: skip
LARGEST = 15_000_000  # bytes
FILES = {
    "bin/headscope", "share/man/man1/headscope.1.gz", "share/doc/headscope/changelog.gz",
    "share/doc/headscope/copyright", "share/applications/headscope.desktop", "share/mime/packages/headscope.xml",
    "share/metainfo/org.headscope.headscope.metainfo.xml", "share/icons/hicolor/scalable/apps/headscope.svg",
    "share/icons/hicolor/256x256/apps/headscope.png",
}  # fmt: skip


def check(holds, text):
    if not holds:
        raise Failure(text)


def output(*command, **options):
    """Returns the output of a command as text; it must succeed and print nothing on standard error."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    check(done.returncode == 0 and not done.stderr, f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}".strip())
    return done.stdout


def names_of(relation):
    """Returns the packages of a field such as "libc6 (>= 2.36), a | b", including all alternatives."""
    return {re.split(r"[\s:(]", name.strip())[0] for name in re.split(r"[,|]", relation) if name.strip()}


def owners_of(paths):
    """Returns the installed packages that contain each file; where /lib is a link to /usr/lib, dpkg may know either
    name."""
    names = {path: (os.path.realpath(path), os.path.realpath(path).removeprefix("/usr")) for path in paths}
    found = subprocess.run(["dpkg", "-S", *sum(names.values(), ())], capture_output=True, text=True).stdout
    owners = dict(reversed(line.split(": ")) for line in found.splitlines())
    return {path: {owner.split(":")[0] for name in known for owner in owners.get(name, "").split(", ") if owner}
            for path, known in names.items()}  # fmt: skip


def installed_with(names):
    """Returns these packages and all their dependencies that are installed."""
    fields = "${Package}\t${Provides}\t${Pre-Depends},${Depends}\n"
    rows = [line.split("\t") for line in output("dpkg-query", "-W", "-f", fields).splitlines()]
    needs = {}
    for name, provided, depends in rows:
        for known_as in {name} | names_of(provided):
            needs.setdefault(known_as, []).append((name, names_of(depends)))
    reached, ahead = set(), set(names)
    while ahead:
        for name, depends in needs.get(ahead.pop(), ()):
            if name not in reached:
                reached.add(name)
                ahead |= depends
    return reached


def check_contents(package, root, sources):
    size = package.stat().st_size
    check(size < LARGEST, f"the package has {size} bytes; it should have less than {LARGEST}")
    rows = [line.split(maxsplit=5) for line in output("dpkg-deb", "-c", package).splitlines()]
    for mode, owner, _, _, _, name in rows:
        wanted = "drwxr-xr-x" if name.endswith("/") else "-rwxr-xr-x" if "/bin/" in name else "-rw-r--r--"
        check(owner == "root/root" and mode == wanted, f"{name} is {mode} of {owner}; it should be {wanted}")
    manual = sources / "assets/manual"
    pages = {f"share/doc/headscope/manual/{page.relative_to(manual)}" for page in manual.rglob("*.md")}
    package_of_python = sources / "assets/python"
    pages |= {f"lib/python3/dist-packages/{path.relative_to(package_of_python)}" for path in (package_of_python / "headscope").iterdir()
              if path.is_file()}  # fmt: skip
    held = {str(path.relative_to(root / "usr")) for path in root.rglob("*") if path.is_file()}
    check(held == FILES | pages, f"the package lacks or has too much of {sorted(held ^ (FILES | pages))}")
    print(f"{size} bytes, {len(held)} files")


def check_dependencies(package, program):
    depends = names_of(output("dpkg-deb", "-f", package, "Depends"))
    check(not any(name.endswith("-dev") for name in depends), f"the package depends on a -dev package: {depends}")
    places = dict(re.findall(r"(\S+) => (/\S+)", output("ldd", program)))
    needed = re.findall(r"NEEDED\s+(\S+)", output("objdump", "-p", program))
    check("libglfw.so.3" in needed, f"the program should need GLFW; objdump says {needed}")
    for path, owners in owners_of(places.get(name, f"/lib64/{name}") for name in needed).items():
        check(owners & depends, f"{path} is of {owners or 'no package'}, which is not in Depends")
    print(f"{len(needed)} libraries, each of a package in Depends")
    return depends


def check_texts(package, root, sources, program):
    version = output(program, "--version").split()[1]
    newest = re.search(r"^## (\S+)", (sources / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)[1]
    check(output("dpkg-deb", "-f", package, "Version").strip() == version == newest, "the versions differ")
    (root / "changelog").write_bytes(gzip.decompress((root / "usr/share/doc/headscope/changelog.gz").read_bytes()))
    changes = output("dpkg-parsechangelog", "--file", root / "changelog")
    check(f"\nVersion: {version}\n" in changes, f"dpkg reads the changelog as {changes}")
    licence = (sources / "LICENSE").read_text(encoding="utf-8")
    notices = (root / "usr/share/doc/headscope/copyright").read_text(encoding="utf-8")
    check(notices.startswith(licence), "the copyright does not begin with LICENSE")
    check("Omar Cornut" in notices, "the copyright lacks the notice of Dear ImGui")
    authors = re.search(r"Copyright \(c\) \d+ (.+)", licence)[1]
    maintainer = output("dpkg-deb", "-f", package, "Maintainer")
    check(maintainer.startswith(authors), f"the maintainer is {maintainer}, but LICENSE says {authors}")


def check_manual_page(root, program):
    page = root / "headscope.1"
    page.write_bytes(gzip.decompress((root / "usr/share/man/man1/headscope.1.gz").read_bytes()))
    shown = output("groff", "-man", "-Kutf8", "-Tutf8", "-ww", "-P-cbou", page)
    head, *parts = re.split(r"^   headscope (.+)\n", shown, flags=re.M)
    options = r"^ +(?:-\w,)?(--[a-z][a-z-]+)"
    told = {name: set(re.findall(options, part, re.M)) for name, part in zip(["", *parts[::2]], [head, *parts[1::2]])}
    commands = [[]]
    for command in commands:
        name = " ".join(command)
        check(name in told, f"the manual page lacks headscope {name}")
        said = output(program, *command, "--help")
        lacking = set(re.findall(options, said, re.M)) - {"--help"} - told[name]
        check(not lacking, f"the manual page lacks {lacking} of headscope {name}")
        listed = re.search(r"^Subcommands:\n((?:  .*\n)+)", said, re.M)
        commands += [[*command, line.split()[0]] for line in (listed[1].splitlines() if listed else ())]
    check(len(commands) > 10, f"--help lists too few commands: {commands}")
    print(f"a manual page of {len(commands) - 1} commands")


def check_python(root):
    """Runs a model with the Python package that was installed, and the program in PATH."""
    script = "import headscope\nwith headscope.Model('pocket') as model: print(model.run('The cat').weights[0].shape, headscope.__file__)"
    packages = root / "usr/lib/python3/dist-packages"
    environment = {**os.environ, "PYTHONPATH": str(packages), "PATH": f"{root / 'usr/bin'}:{os.environ['PATH']}", "HEADSCOPE_DEVICE": "cpu"}
    environment.pop("HEADSCOPE", None)
    said = output(sys.executable, "-B", "-c", script, env=environment)
    check(said == f"(1, 8, 3, 3) {packages}/headscope/__init__.py\n", f"Python says {said}")
    print("a Python package that runs a model")


def check_desktop(root):
    share = root / "usr/share"
    hints = output("desktop-file-validate", share / "applications/headscope.desktop")
    check(not hints, f"desktop-file-validate has hints: {hints}")
    about = share / "metainfo/org.headscope.headscope.metainfo.xml"
    said = subprocess.run(["appstreamcli", "validate", "--no-net", about], capture_output=True, text=True).stdout
    problems = set(re.findall(r"^[EW]: .*: ([\w-]+)$", said, re.M))
    # The project has no home page. AppStream warns of that since version 1.0.
    check("Validation" in said and problems <= {"url-homepage-missing"}, f"appstreamcli validate: {said}")
    output("update-mime-database", share / "mime", env={**os.environ, "XDG_DATA_DIRS": str(share)})
    globs = (share / "mime/globs2").read_text(encoding="utf-8").splitlines()
    entry = configparser.ConfigParser(interpolation=None)
    entry.read(share / "applications/headscope.desktop", encoding="utf-8")
    entry = entry["Desktop Entry"]
    opened = entry["MimeType"].rstrip(";")
    check(f"50:{opened}:*.headscope" in globs, f"no file is a {opened}; the desktop knows {globs}")
    about = xml.parse(share / "metainfo/org.headscope.headscope.metainfo.xml")
    check(about.findtext("provides/mediatype") == opened, "AppStream and the desktop entry open different types")
    check((share / f"icons/hicolor/256x256/apps/{entry['Icon']}.png").exists(), "the desktop entry's icon is missing")
    check(shutil.which(entry["Exec"].split()[0], path=root / "usr/bin"), "the desktop entry's program is missing")
    drawn = root / "drawn.png"
    output("rsvg-convert", share / "icons/hicolor/scalable/apps/headscope.svg", "-o", drawn)
    pictures = [pixels(drawn), pixels(share / "icons/hicolor/256x256/apps/headscope.png")]
    check(all(len(picture) == 256 * 256 * 4 for picture in pictures), "the icon has not 256 x 256 pixels")
    check(numpy.abs(pictures[0] - pictures[1]).mean() < 0.5, "headscope.png is not a picture of headscope.svg")
    print("desktop entry, AppStream data, type of projects and icon are good")
    return entry["StartupWMClass"]


def pixels(path):
    shot = subprocess.run(["convert", path, "-depth", "8", "rgba:-"], check=True, capture_output=True)
    return numpy.frombuffer(shot.stdout, numpy.uint8).astype(int)


def check_window(program, folder, window_class, depends):
    picture = folder / "weights.png"
    output(program, "render", "The cat sat down", "--stage", "weights", "-o", picture)
    check(picture.read_bytes().startswith(b"\x89PNG"), "render wrote no PNG")
    output(program, "render", "--window", "-o", picture)
    check(len(set(pixels(picture))) > 100, "the picture of the window is empty")
    with desktop.Display() as display, desktop.Window(program, display, folder) as window:
        time.sleep(2)
        check(window.process.poll() is None, "the program ended by itself")
        found = output("xdotool", "search", "--class", window_class, env=window.environment).split()[0]
        said = output("xprop", "-id", found, "-notype", "WM_CLASS", "32c", "_NET_WM_ICON", env=window.environment)
        check(f'"{window_class}"\n_NET_WM_ICON = 256, 256, ' in said, f"xprop says {said[:200]}")
        mapped = pathlib.Path("/proc", str(window.process.pid), "maps").read_text(encoding="utf-8")
        window.ask_to_close()
        check(window.ended() == 0, "the window ended with an error")
    libraries = {path for path in re.findall(r"(/\S+\.so[.\d]*)$", mapped, re.M)}
    installed = installed_with(depends)
    strange = {path: names for path, names in owners_of(libraries).items() if names and not names & installed}
    check(not strange, f"no dependency brings {strange}")
    check(any("libGL" in path for path in libraries), f"the window has drawn without OpenGL: {libraries}")
    print(f"a window with {len(libraries)} libraries, each brought by a dependency")


def main():
    build, sources = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        print(f"skipped: there is no {', '.join(missing)}; third_party/install.sh installs them")
        return 77
    os.environ.pop("HEADSCOPE_ASSETS", None)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        # gzip takes 2 s and xz 10 s; the packed files are the same.
        made = subprocess.run(["cpack", "--config", build / "CPackConfig.cmake", "-G", "DEB", "-B", folder,
                               "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip"],
                              cwd=folder, capture_output=True, text=True)  # fmt: skip
        check(made.returncode == 0, f"cpack: {made.stdout}{made.stderr}")
        (package,) = folder.glob("*.deb")
        root = folder / "root"
        output("dpkg-deb", "-x", package, root)
        program = root / "usr/bin/headscope"
        check_contents(package, root, sources)
        depends = check_dependencies(package, program)
        check_texts(package, root, sources, program)
        check_manual_page(root, program)
        check_python(root)
        check_window(program, folder, check_desktop(root), depends)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as fault:
        sys.exit(f"check_package: {fault}")
