#!/usr/bin/env python3
"""check_archive.py BUILD: makes the archive for any Linux system from a build folder with cpack and runs the program in it:
first from a read-only folder with spaces and letters beyond ASCII, with an empty environment; then in a system of its own
that has glibc, the compiler's libraries and X11, but neither OpenGL nor fonts. Exits with 77 (skipped) if such a system or
the archive cannot be made."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LARGEST = 30_000_000  # bytes
OLDEST_GLIBC = (2, 36)
SYSTEMS_OWN = re.compile(r"(ld-linux|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|GL\w*|EGL|OpenGL|vulkan|drm|X\w*|xcb[\w-]*|bsd|md)\.so)")


class Failure(Exception):
    pass


def check(holds, text):
    if not holds:
        raise Failure(text)


def run(*command, code=0, **options):
    """Runs a command that has to exit with this code. Returns its standard error."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    check(done.returncode == code, f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stderr


def libraries_of(program):
    said = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    check("not found" not in said, f"ldd says {said}")
    return [pathlib.Path(path) for path in re.findall(r"(/\S.*?) \(0x", said)]


def make(build, folder):
    run("cpack", "--config", build / "CPackConfig.cmake", "-G", "TXZ", "-B", folder, cwd=folder)
    (archive,) = folder.glob("*.tar.xz")
    check(archive.stat().st_size < LARGEST, f"{archive.name} has {archive.stat().st_size} bytes")
    run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=folder)
    place = folder / "Zwei Köpfe"
    place.mkdir()
    run("tar", "-xf", archive, "-C", place)
    (root,) = place.iterdir()
    print(f"{archive.name}: {archive.stat().st_size} bytes")
    return root


def check_contents(root):
    held = {file.name for file in (root / "lib/headscope").iterdir()}
    check(held and not any(SYSTEMS_OWN.match(name) for name in held), f"the archive holds {sorted(held)}")
    for library in libraries_of(root / "bin/headscope"):
        own = root in library.parents
        check(own != bool(SYSTEMS_OWN.match(library.name)), f"the program takes {library}")
    licences = [file.name for file in (root / "share/doc/headscope/licences").iterdir()]
    check(len(licences) > 20 and "fonts-inter" in licences, f"the licences are those of {licences}")
    print(f"{len(held)} libraries, {len(licences)} licences")


def check_from_a_strange_place(root, folder):
    """Runs the program with an empty environment from a read-only folder."""
    script = 'root=$1; shift; mount --bind -o ro "$root" "$root"; cd /; exec env -i "$root/bin/headscope" "$@"'
    words = ["unshare", "--mount", "sh", "-ec", script, "sh"]
    run(*words, root, "trace", "The cat sat down", "--stages", "weights", "-o", folder / "w.safetensors")
    run(*words, root, "render", "The cat sat down", "--stage", "weights", "-o", folder / "w.png")
    run(*words, root, "render", "--window", "-o", folder / "window.png")
    check((folder / "window.png").stat().st_size > 20_000, "the picture of the window is empty")
    print("runs from a folder that is read-only, with an empty environment")


def make_system(folder, root):
    """Makes a folder for chroot: the program's system dependencies, and the archive at /opt/Köpfe."""
    for library in libraries_of(root / "bin/headscope"):
        if root not in library.parents:
            place = folder / str(library).lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, place)
    for name in ("proc", "tmp", "opt"):
        (folder / name).mkdir()
    shutil.copytree(root, folder / "opt/Köpfe", symlinks=True)


def check_in_a_small_system(folder):
    def inside(*command, code=0):
        words = ["unshare", "--mount", "sh", "-ec", 'mount -t proc proc "$1/proc"; exec env -i /usr/sbin/chroot "$@"', "sh", folder]
        return run(*words, "/opt/Köpfe/bin/headscope", *command, code=code)

    inside("trace", "The cat sat down", "--stages", "weights", "-o", "/tmp/w.safetensors")
    check((folder / "tmp/w.safetensors").stat().st_size > 100, "trace wrote nothing")
    inside("render", "The cat sat down", "--stage", "weights", "-o", "/tmp/w.svg")
    said = inside("render", "--window", "-o", "/tmp/window.png", code=3)
    check("OpenGL" in said and "install" in said and said.count("\n") == 1, f"without OpenGL it says {said}")
    said = inside(code=3)
    check("display" in said and said.count("\n") == 1, f"without a display it says {said}")
    shutil.rmtree(folder / "opt/Köpfe/share/headscope/fonts")
    said = inside("render", "The cat sat down", "--stage", "weights", "-o", "/tmp/w.png", code=3)
    check("no font" in said and "install" in said, f"without fonts it says {said}")
    print("runs without fonts and OpenGL of the system, and says what it lacks")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    version = tuple(map(int, os.confstr("CS_GNU_LIBC_VERSION").split()[1].split(".")))
    if version > OLDEST_GLIBC:
        print(f"skipped: the archive is made where glibc is {OLDEST_GLIBC} or older; here it is {version}")
        return 77
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
        print("skipped: this user cannot make a system in a folder (unshare --mount)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        root = make(build, folder)
        check_contents(root)
        check_from_a_strange_place(root, folder)
        (folder / "system").mkdir()
        make_system(folder / "system", root)
        check_in_a_small_system(folder / "system")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as fault:
        sys.exit(f"check_archive: {fault}")
