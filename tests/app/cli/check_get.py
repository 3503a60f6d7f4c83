#!/usr/bin/env python3
"""check_get.py PROGRAM DATA: checks `headscope get` against a local server that speaks the requests of the Hub.

Downloads a stored model, compares the cache with the documented layout (https://huggingface.co/docs/hub/local-cache) and with
Python's hashes, and opens it by name. Then the server misbehaves: it breaks connections, damages files, asks to wait and
refuses. With huggingface_hub installed, its own reading of the cache is compared too."""
import fcntl
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

from hub_server import COMMIT, Hub, git_hash, sha256

PROGRAM, DATA = sys.argv[1], pathlib.Path(sys.argv[2])
NAME = "someone/tiny"
LARGE = os.urandom(3_000_000)


def model_files():
    files = {path.name: path.read_bytes() for path in (DATA / "models/gpt2_tiny").iterdir() if path.name in ("config.json", "model.safetensors")}
    return files | {"README.md": b"# A model\n", "modeling_tiny.py": b"raise SystemExit('code was run')\n",
                    "pytorch_model.bin": b"x" * 2000, "merges.txt": b"#version: 0.2\n"}  # fmt: skip


class Case:
    """A server and an empty cache."""

    def __init__(self, files=None):
        self.hub = Hub(files or model_files())
        self.folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.home = pathlib.Path(self.folder.name)
        self.model = self.home / "hub/models--someone--tiny"

    def __enter__(self):
        return self

    def __exit__(self, *fault):
        self.hub.close()
        self.folder.cleanup()

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_") and "proxy" not in name.lower()}
        return kept | {"HF_HOME": str(self.home), "HF_ENDPOINT": self.hub.url()} | more

    def run(self, *words, code=0, limit=None, **more):
        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, env=self.environment(**more),
                              preexec_fn=limited if limit else None, timeout=120)  # fmt: skip
        assert done.returncode == code, f"{words}: exit code {done.returncode}, not {code}: {done.stdout}{done.stderr}"
        return done

    def get(self, name=NAME, **more):
        return self.run("get", name, **more)

    def refused(self, part, code=1, name=NAME, **more):
        done = self.get(name, code=code, **more)
        assert part in done.stderr, f"\"{part}\" is not in: {done.stderr}"
        assert done.stdout == "", done.stdout
        assert not (self.model / "snapshots").exists() and not (self.model / "refs").exists()

    def blobs(self):
        return sorted(path.name for path in (self.model / "blobs").glob("*"))

    def file_requests(self):
        return [request for request in self.hub.requests if "/resolve/" in request[2] or request[0] == "cdn"]


def check_layout():
    with Case() as case:
        done = case.get()
        snapshot = case.model / "snapshots" / COMMIT
        assert done.stdout == f"{snapshot}\n", done.stdout
        assert "free" in done.stderr and "MB" in done.stderr or "kB" in done.stderr, done.stderr
        names = {"config.json", "merges.txt", "model.safetensors"}
        assert {path.name for path in snapshot.iterdir()} == names
        for name in names:
            content = case.hub.files[name]
            hash = sha256(content) if case.hub.is_large(name) else git_hash(content)
            assert os.readlink(snapshot / name) == f"../../blobs/{hash}"
            assert (snapshot / name).read_bytes() == content
        assert (case.model / "refs/main").read_bytes() == COMMIT.encode()
        assert {path.name for path in case.model.iterdir()} == {"blobs", "refs", "snapshots"}
        assert len(case.blobs()) == 3 and {path.suffix for path in (case.home / "hub/.locks/models--someone--tiny").iterdir()} == {".lock"}
        asked = {request[2] for request in case.file_requests()}
        assert not [path for path in asked if path.endswith((".py", ".md", ".bin"))], asked
        # huggingface_hub reads it as its own.
        try:
            import huggingface_hub
        except ImportError:
            print("layout: compared with its documentation (huggingface_hub is not installed)")
        else:
            for name in names:
                assert huggingface_hub.try_to_load_from_cache(NAME, name, cache_dir=case.home / "hub") == str(snapshot / name)
            [repo] = huggingface_hub.scan_cache_dir(case.home / "hub").repos
            assert repo.repo_id == NAME and repo.nb_files == 3
        # By its name everywhere.
        assert '"family": "gpt2"' in case.run("model", "info", NAME, "--json").stdout
        assert '"family": "gpt2"' in case.run("model", "info", f"{NAME}@{COMMIT}", "--json", HF_HUB_OFFLINE="1").stdout
        out = case.home / "out.safetensors"
        case.run("trace", "--model", NAME, "--ids", "1,2,3", "-o", str(out))
        assert out.exists()
        assert f"{NAME}\n" in case.run("model", "list").stdout
        # Nothing is downloaded twice.
        case.hub.requests.clear()
        assert case.get().stdout == done.stdout
        assert case.file_requests() == [] and len(case.hub.requests) == 1
        # Removed.
        assert "all revisions" in case.run("model", "remove", NAME + "@main", code=1).stderr
        assert NAME in case.run("model", "remove", NAME).stdout
        assert not case.model.exists() and not (case.home / "hub/.locks/models--someone--tiny").exists()
        assert NAME not in case.run("model", "list").stdout
        assert "not in" in case.run("model", "remove", NAME, code=1).stderr or "no model" in case.run("model", "remove", NAME, code=1).stderr
        assert f"headscope get {NAME}" in case.run("model", "info", NAME, code=1).stderr


def check_folders_and_revisions():
    with Case() as case:
        case.hub.revisions = {"main": COMMIT, "refs/pr/1": "f" * 40, "v1": "e" * 40}
        other = case.home / "other"
        assert case.run("get", NAME + "@v1", "--endpoint", case.hub.url() + "/", "--cache", str(other), HF_ENDPOINT="").stdout == (
            f"{other}/models--someone--tiny/snapshots/{'e' * 40}\n")  # fmt: skip
        assert not case.model.exists()
        case.get(NAME + "@refs/pr/1")
        assert (case.model / "refs/refs/pr/1").read_text() == "f" * 40
        case.get(NAME + "@v1", HF_HUB_CACHE=str(case.home / "hub"))
        assert '"family"' in case.run("model", "info", NAME + "@v1", "--json").stdout
        assert "v9" in case.get(NAME + "@v9", code=1).stderr
        # A model with a new name is found under its old one.
        case.get("someone/old")
        assert (case.home / "hub/models--someone--old/refs/main").read_text() == COMMIT


def check_parts_and_pickles():
    whole = model_files()
    files = {"config.json": whole["config.json"], "model-00001-of-00002.safetensors": whole["model.safetensors"],
             "model-00002-of-00002.safetensors": LARGE, "consolidated.safetensors": b"y" * 5000}  # fmt: skip
    parts = [name for name in files if name.startswith("model-")]
    index = '{"metadata": {}, "weight_map": {"a": "%s", "b": "%s"}}' % tuple(parts)
    with Case(files | {"model.safetensors.index.json": index.encode()}) as case:
        snapshot = pathlib.Path(case.get().stdout.strip())
        assert {path.name for path in snapshot.iterdir()} == {"config.json", "model.safetensors.index.json", *parts}
    del whole["model.safetensors"]
    with Case(whole) as case:
        assert "pytorch_model.bin" in os.listdir(case.get().stdout.strip())
    with Case({"model-Q4_0.gguf": LARGE, "README.md": b"#"}) as case:
        case.refused("GGUF")


def check_rights():
    with Case() as case:
        case.get(HF_TOKEN="a-secret")
        for server, _, path, authorization, _ in case.hub.requests:
            assert authorization == ("Bearer a-secret" if server == "hub" else None), (server, path, authorization)
        assert any(server == "cdn" for server, *_ in case.hub.requests)
    with Case() as case:
        case.hub.token = "the-right-one"
        case.refused("restricted")
        done = case.get(HF_TOKEN="the-right-one\n")
        assert "the-right-one" not in done.stdout + done.stderr
    with Case() as case:
        case.refused("has no model someone/unknown", name="someone/unknown")
        case.refused("is not the name of a model", name="../../etc")
        for status, headers, part in [(401, {}, "no model"), (403, {}, "does not allow"), (404, {}, "no model"),
                                      (403, {"X_Error_Code": "GatedRepo"}, "restricted"), (418, {}, "status 418")]:  # fmt: skip
            case.hub.statuses = [(status, headers)]
            case.refused(part)


def check_waits():
    with Case() as case:
        case.hub.statuses = [(429, {"Retry_After": 1}), (503, {})]
        began = time.monotonic()
        done = case.get()
        assert time.monotonic() - began >= 2  # one second that was asked for, and one of its own
        assert "too many requests" in done.stderr or done.stderr.count("waiting") == 0


def check_breaks():
    files = model_files() | {"model.safetensors": LARGE}
    with Case(files) as case:
        case.hub.break_after = [10**9] * 2 + [1_000_000, 500_000]  # config.json and merges.txt are whole
        snapshot = pathlib.Path(case.get().stdout.strip())
        assert (snapshot / "model.safetensors").read_bytes() == LARGE
        ranges = [request[4] for request in case.hub.requests if request[0] == "cdn"]
        assert ranges[0] is None and len(ranges) == 3 and all(one.startswith("bytes=") for one in ranges[1:]), ranges
        assert case.hub.sent < len(LARGE) + 100_000, case.hub.sent  # nothing was sent twice
    with Case(files) as case:  # a server without ranges
        case.hub.break_after, case.hub.ranges = [10**9] * 2 + [1_000_000], False
        snapshot = pathlib.Path(case.get().stdout.strip())
        assert (snapshot / "model.safetensors").read_bytes() == LARGE


def check_damage():
    with Case() as case:
        case.hub.damaged = {"model.safetensors"}
        case.refused("arrived damaged")
        assert len(case.blobs()) == 2 and not [name for name in case.blobs() if "incomplete" in name], case.blobs()
        case.hub.damaged = set()
        case.get()
    for name in ("../outside", "/etc/outside", "a/../../outside"):
        with Case() as case:
            case.hub.extra_names = [name]
            case.refused("outside the model's folder")
    with Case() as case:
        case.hub.with_hashes = False  # then each file's headers have them
        snapshot = pathlib.Path(case.get().stdout.strip())
        assert (snapshot / "model.safetensors").read_bytes() == case.hub.files["model.safetensors"]
        assert "HEAD" in {request[1] for request in case.hub.requests}


def check_full_disk():
    files = model_files() | {"model.safetensors": LARGE}
    with Case(files) as case:
        case.refused("cannot write", limit=1_000_000)
        assert not [name for name in case.blobs() if "incomplete" in name], case.blobs()
    # A disk of one megabyte, in a mount namespace of its own.
    with Case(files) as case:
        small = case.home / "small"
        small.mkdir()
        script = f'mount -t tmpfs -o size=1M none "{small}" && "{PROGRAM}" get {NAME} --cache "{small}"'
        done = subprocess.run(["unshare", "--map-root-user", "--mount", "sh", "-c", script], env=case.environment(),
                              capture_output=True, text=True)  # fmt: skip
        if "mount" in done.stderr or "unshare" in done.stderr:
            print("a disk that is too small: skipped, because this system allows no mounts")
        else:
            assert done.returncode == 1 and "free some space" in done.stderr, done
            assert case.file_requests() == []


def check_no_network():
    with Case() as case:
        case.refused("HF_HUB_OFFLINE", code=3, HF_HUB_OFFLINE="1")
        assert case.hub.requests == []
        case.refused("cannot be reached", code=3, HF_ENDPOINT="http://127.0.0.1:1")
        case.refused("cannot be reached", code=3, HF_ENDPOINT="https://nowhere.invalid")
        case.refused("not the address of a server", HF_ENDPOINT="file:///etc")


def check_interrupt():
    with Case(model_files() | {"model.safetensors": LARGE}) as case:
        case.hub.slow = True
        running = subprocess.Popen([PROGRAM, "get", NAME], env=case.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        part = case.model / "blobs" / (sha256(LARGE) + ".incomplete")
        while running.poll() is None and not (part.exists() and part.stat().st_size > 300_000):
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=30)
        assert running.returncode == 1 and out == "" and "continues" in err, (running.returncode, out, err)
        kept = part.stat().st_size
        assert 0 < kept < len(LARGE) and not (case.model / "snapshots").exists()
        case.hub.slow = False
        case.hub.requests.clear()
        snapshot = pathlib.Path(case.get().stdout.strip())
        assert (snapshot / "model.safetensors").read_bytes() == LARGE
        assert [request[4] for request in case.hub.requests if request[0] == "cdn"] == [f"bytes={kept}-"]


def check_lock():
    """Another program, such as huggingface_hub, downloads the same file."""
    with Case() as case:
        hash = sha256(case.hub.files["model.safetensors"])
        lock = case.home / f"hub/.locks/models--someone--tiny/{hash}.lock"
        lock.parent.mkdir(parents=True)
        with lock.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            blob = case.model / "blobs" / hash
            blob.parent.mkdir(parents=True)

            def finish():
                blob.write_bytes(case.hub.files["model.safetensors"])
                fcntl.flock(file, fcntl.LOCK_UN)

            threading.Timer(1, finish).start()
            case.get()
        assert not [request for request in case.hub.requests if request[0] == "cdn"]


def main():
    for check in (check_layout, check_folders_and_revisions, check_parts_and_pickles, check_rights, check_waits, check_breaks,
                  check_damage, check_full_disk, check_no_network, check_interrupt, check_lock):  # fmt: skip
        check()
        print(f"{check.__name__}: passed")


if __name__ == "__main__":
    main()
