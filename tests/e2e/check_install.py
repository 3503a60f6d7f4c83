#!/usr/bin/env python3
"""check_install.py SOURCES: runs third_party/install.sh with tools of its own in place of the system's, and checks what it
installs, and what it says where it cannot: no root, no apt-get, a release that is too old or lacks a package."""
import pathlib
import re
import subprocess
import sys
import tempfile

TOOLS = {
    "apt-get": 'echo "$@" >>"$LOG"; case $1 in update) exit "${UPDATE:-0}" ;; esac',
    "dpkg-query": 'for package; do :; done; [ -e "$STATE/$package" ] && echo "installed $(cat "$STATE/$package")"',
    "apt-cache": 'echo "$2:"; echo "  Installed: (none)"; [ "$2" = "${LACKING-}" ] || '
                 'if [ "$2" = "${OLD-}" ]; then echo "  Candidate: 1:0.9-1"; else echo "  Candidate: 2:99.1-2"; fi',
    "id": 'echo "${USER_ID:-0}"',
}
SYSTEM = ("bash", "sed", "cat", "env", "dpkg", "true")  # dpkg compares versions


def check(holds, text):
    if not holds:
        sys.exit(f"check_install.py: {text}")


class System:
    """A folder with these tools as the whole PATH."""

    def __init__(self, folder, sources):
        self.script = sources / "third_party/install.sh"
        self.tools, self.state, self.log = folder / "tools", folder / "state", folder / "log"
        self.tools.mkdir()
        self.state.mkdir()
        for name, text in TOOLS.items():
            self.write(name, text)
        for name in SYSTEM:
            (self.tools / name).symlink_to(next(p for p in map(pathlib.Path, (f"/bin/{name}", f"/usr/bin/{name}")) if p.exists()))

    def write(self, name, text):
        (self.tools / name).write_text(f"#!/bin/bash\n{text}\n")
        (self.tools / name).chmod(0o755)

    def run(self, *options, code=0, **environment):
        self.log.write_text("")
        done = subprocess.run([self.script, *options], capture_output=True, text=True,
                              env={"PATH": str(self.tools), "STATE": str(self.state), "LOG": str(self.log), **environment})
        check(done.returncode == code, f"{options} {environment}: {done.returncode}, {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def asked_of_apt(self):
        return self.log.read_text()


def main():
    sources = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        system = System(pathlib.Path(folder), sources)

        system.run("--run")
        to_run = set(re.findall(r"[a-z][\w.+-]+", system.asked_of_apt()))
        check({"g++", "cmake", "fonts-inter"} <= to_run and "catch2" not in to_run, f"--run installs {sorted(to_run)}")
        system.run()
        everything = set(re.findall(r"[a-z][\w.+-]+", system.asked_of_apt()))
        check(to_run < everything and {"catch2", "xvfb"} <= everything, f"without an option: {sorted(everything)}")

        said = system.run(code=1, USER_ID="1000")
        check("root has to install" in said and "g++" in said and "install sudo" in said, said)
        check(system.asked_of_apt() == "", "apt-get ran without root")
        system.write("sudo", 'echo sudo >>"$LOG"; exec "$@"')
        system.run("--run", USER_ID="1000")
        check(system.asked_of_apt().count("sudo") == 2, f"sudo: {system.asked_of_apt()}")

        said = system.run("--run", code=1, OLD="cmake")
        check("cmake 0.9-1" in said and "3.25" in said and "install -y" not in system.asked_of_apt(), said)
        said = system.run("--run", code=1, LACKING="libimgui-dev")
        check("no package libimgui-dev" in said and "install -y" not in system.asked_of_apt(), said)
        said = system.run("--run", code=1, UPDATE="100")
        check("could not be fetched" in said, said)
        said = system.run("--all", code=1)
        check('"--all"' in said and "--run" in said, said)

        for package in everything - {"install", "update"}:
            (system.state / package).write_text("2:99.1-2\n")
        check("everything is installed" in system.run(USER_ID="1000"), "asks for root with nothing to install")
        check(system.asked_of_apt() == "", "apt-get ran with nothing to install")
        (system.state / "libvulkan-dev").write_text("1.3.204.1-2\n")
        said = system.run(code=1)
        check("libvulkan-dev 1.3.204.1-2" in said and "1.3.239" in said, said)

        (system.tools / "apt-get").unlink()
        said = system.run("--run", code=1)
        check("apt-get" in said and "by hand" in said and "libglfw3-dev" in said, said)
    print("install.sh installs what it should, and says what it cannot")


if __name__ == "__main__":
    main()
