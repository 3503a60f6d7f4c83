"""A virtual display with the program on it, and tools that send input and read the screen: Xvfb, xdotool and ImageMagick's
import."""
import ctypes
import json
import os
import pathlib
import subprocess
import time

import numpy

PATIENCE = 30  # seconds for each single wait; a busy machine is slow, but this is not an error
SIZE = (1600, 1000)


class Failure(Exception):
    """An expected event did not happen."""


def wait_for(what, look, patience=PATIENCE):
    """Polls `look` until it returns something true and returns that."""
    end = time.monotonic() + patience
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > end:
            raise Failure(f"waited {patience} s for {what}")
        time.sleep(0.05)


class Display:
    """An Xvfb on a free display number. It ends with the object."""

    def __enter__(self):
        reader, writer = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writer), "-screen", "0", f"{SIZE[0]}x{SIZE[1]}x24", "-nolisten", "tcp"],
            pass_fds=[writer], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        os.close(writer)
        with os.fdopen(reader) as pipe:
            number = pipe.readline().strip()
        if not number:
            self.server.wait(PATIENCE)
            raise Failure("Xvfb did not start")
        self.name = f":{number}"
        return self

    def __exit__(self, *_):
        self.server.terminate()
        try:
            self.server.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.server.kill()
            self.server.wait()


class Running:
    """A running program and its report."""

    def __init__(self, command, environment, report_path):
        self.report_path, self.environment = report_path, environment
        self.report_path.unlink(missing_ok=True)
        self.process = subprocess.Popen(command, env=environment)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def report(self):
        if not self.report_path.exists():
            return None
        return json.loads(self.report_path.read_text(encoding="utf-8"))

    def wait(self, what, holds):
        """Returns the first report for which `holds` is true."""

        def look():
            if self.process.poll() is not None:
                raise Failure(f"the program ended with {self.process.returncode} while waiting for {what}")
            report = self.report()
            return report if report and holds(report) else None

        try:
            return wait_for(what, look)
        except Failure as fault:
            report = self.report() or {}
            report.pop("grids", None)
            raise Failure(f"{fault}; the last report says {report}") from None

    def xdotool(self, *arguments):
        subprocess.run(["xdotool", *map(str, arguments)], env=self.environment, check=True, timeout=PATIENCE)

    def move(self, x, y):
        self.xdotool("mousemove", int(x), int(y))

    def click(self, x, y):
        self.move(x, y)
        self.xdotool("click", 1)

    def key(self, name):
        self.xdotool("key", name)

    def type(self, text):
        self.xdotool("type", "--delay", 15, text)

    def screenshot(self):
        """Returns rows x columns x (red, green, blue) of the whole screen."""
        shot = subprocess.run(["import", "-silent", "-window", "root", "-depth", "8", "rgb:-"],
                              env=self.environment, check=True, capture_output=True, timeout=PATIENCE)  # fmt: skip
        return numpy.frombuffer(shot.stdout, numpy.uint8).reshape(SIZE[1], SIZE[0], 3).astype(int)

    def still_screenshot(self):
        """Returns a screenshot after the picture has stopped changing: the server shows a frame a moment after it was
        drawn."""
        last = None

        def same_twice():
            nonlocal last
            shot = self.screenshot()
            still = last is not None and (shot == last).all()
            last = shot
            return still

        wait_for("a still picture", same_twice)
        return last

    def copied(self, kind):
        """Returns the content of the clipboard as this type, such as image/png; empty if the clipboard does not have it."""
        return read_clipboard(self.environment["DISPLAY"], kind)

    def ask_to_close(self):
        """Sends the message that a window manager sends when the close button is clicked: WM_DELETE_WINDOW (ICCCM
        4.2.8.1)."""
        found = subprocess.run(["xdotool", "search", "--class", "headscope"], env=self.environment, check=True,
                               capture_output=True, text=True, timeout=PATIENCE)  # fmt: skip
        for window in found.stdout.split():
            send_delete(self.environment["DISPLAY"], int(window))

    def ended(self):
        """Returns the exit code after the program has ended."""
        return wait_for("the program to end", lambda: [] if self.process.poll() is None else [self.process.poll()])[0]


class Window(Running):
    """The program in an empty home folder, after its first picture."""

    def __init__(self, program, display, folder, *arguments):
        folder = pathlib.Path(folder)
        for name in ("home", "config", "state", "runtime"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "runtime").chmod(0o700)
        environment = {**clean_environment(), "DISPLAY": display.name, "HOME": str(folder / "home"),
                       "XDG_CONFIG_HOME": str(folder / "config"), "XDG_STATE_HOME": str(folder / "state"),
                       "XDG_RUNTIME_DIR": str(folder / "runtime")}  # fmt: skip
        report_path = folder / "report.json"
        super().__init__([program, "--report", str(report_path), *arguments], environment, report_path)
        self.wait("the first picture", lambda report: report["settled"])


class ClientMessage(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int),
                ("display", ctypes.c_void_p), ("window", ctypes.c_ulong), ("message_type", ctypes.c_ulong),
                ("format", ctypes.c_int), ("data", ctypes.c_long * 5), ("pad", ctypes.c_long * 24)]  # fmt: skip


def send_delete(display_name, window):
    x11 = ctypes.CDLL("libX11.so.6")
    x11.XOpenDisplay.restype = ctypes.c_void_p
    x11.XInternAtom.restype = ctypes.c_ulong
    display = ctypes.c_void_p(x11.XOpenDisplay(display_name.encode()))
    atom = [x11.XInternAtom(display, name, 0) for name in (b"WM_PROTOCOLS", b"WM_DELETE_WINDOW")]
    client_message = 33
    event = ClientMessage(client_message, 0, 1, display, window, atom[0], 32, (ctypes.c_long * 5)(atom[1]))
    x11.XSendEvent(display, ctypes.c_ulong(window), 0, ctypes.c_long(0), ctypes.byref(event))
    x11.XCloseDisplay(display)


def read_clipboard(display_name, kind):
    """Reads the clipboard as ICCCM 2.4 defines it, in one piece."""
    x11 = ctypes.CDLL("libX11.so.6")
    x11.XOpenDisplay.restype = ctypes.c_void_p
    for name in ("XInternAtom", "XDefaultRootWindow", "XCreateSimpleWindow"):
        getattr(x11, name).restype = ctypes.c_ulong
    display = ctypes.c_void_p(x11.XOpenDisplay(display_name.encode()))
    root = ctypes.c_ulong(x11.XDefaultRootWindow(display))
    window = ctypes.c_ulong(x11.XCreateSimpleWindow(display, root, 0, 0, 1, 1, 0, 0, 0))
    clipboard, target, place = (ctypes.c_ulong(x11.XInternAtom(display, name, 0))
                                for name in (b"CLIPBOARD", kind.encode(), b"PASTED"))  # fmt: skip
    x11.XConvertSelection(display, clipboard, target, place, window, ctypes.c_ulong(0))
    event = (ctypes.c_long * 24)()
    selection_notify = 31

    def told():
        while x11.XPending(display):
            x11.XNextEvent(display, ctypes.byref(event))
            if ctypes.cast(event, ctypes.POINTER(ctypes.c_int))[0] == selection_notify:
                return True
        return False

    wait_for("the clipboard's owner", told)
    form, left, count = ctypes.c_int(), ctypes.c_ulong(), ctypes.c_ulong()
    found, data = ctypes.c_ulong(), ctypes.c_void_p()
    any_type, most_words = ctypes.c_ulong(0), ctypes.c_long(1 << 24)
    x11.XGetWindowProperty(display, window, place, ctypes.c_long(0), most_words, 0, any_type, ctypes.byref(found),
                           ctypes.byref(form), ctypes.byref(count), ctypes.byref(left), ctypes.byref(data))  # fmt: skip
    out = ctypes.string_at(data, count.value) if data.value else b""
    x11.XCloseDisplay(display)
    return out


def clean_environment():
    """Returns the caller's environment without variables that point to another display, session or device."""
    dropped = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "HEADSCOPE_DEVICE", "PYTHONPATH")
    return {name: value for name, value in os.environ.items() if name not in dropped}
