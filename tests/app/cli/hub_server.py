"""A server that speaks the requests of the Hugging Face Hub, and a second one on another port for large files."""
import hashlib
import http.server
import json
import re
import threading
import time
import urllib.parse

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def git_hash(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def sha256(content):
    return hashlib.sha256(content).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def send_content(self, content, etag, **headers):
        """A file, from the first byte that Range asks for on; possibly broken off, or slow."""
        hub = self.server.hub
        begin = 0
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if asked and hub.ranges:
            begin = int(asked.group(1))
            headers["Content_Range"] = f"bytes {begin}-{len(content) - 1}/{len(content)}"
        self.answer(206 if begin else 200, ETag=f'"{etag}"', Content_Length=len(content) - begin, **headers)
        if self.command != "GET":
            return
        end = len(content)
        if hub.break_after:
            end = min(end, begin + hub.break_after.pop(0))
        for at in range(begin, end, 65536):
            self.wfile.write(content[at : min(at + 65536, end)])
            hub.sent += min(at + 65536, end) - at
            if hub.slow:
                time.sleep(0.05)
        if end < len(content):
            self.wfile.flush()
            self.close_connection = True
            self.connection.shutdown(2)

    def do_GET(self):
        try:
            self.server.reply(self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_HEAD = do_GET


class Hub:
    """`files`: the content of the model someone/tiny. Files of more than 1,000 bytes are large files, on the other port."""

    def __init__(self, files):
        self.files = files
        self.requests = []  # (server, method, path, Authorization, Range)
        self.restart()
        self.servers = {"hub": self.serve(self.reply_hub, "hub"), "cdn": self.serve(self.reply_cdn, "cdn")}

    def restart(self):
        """Forgets requests and faults."""
        self.requests.clear()
        self.ranges, self.slow, self.with_hashes, self.sent = True, False, True, 0
        self.break_after, self.statuses, self.damaged, self.revisions = [], [], set(), {"main": COMMIT}
        self.extra_names, self.token = [], None

    def serve(self, reply, name):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        server.handle_error = lambda *connection: None  # the program ends connections that it does not need
        server.hub = self

        def recorded(request):
            self.requests.append((name, request.command, request.path, request.headers.get("Authorization"),
                                  request.headers.get("Range")))  # fmt: skip
            reply(request)

        server.reply = recorded
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    def url(self, name="hub"):
        return f"http://127.0.0.1:{self.servers[name].server_address[1]}"

    def close(self):
        for server in self.servers.values():
            server.shutdown()
            server.server_close()

    def is_large(self, name):
        return len(self.files[name]) > 1000

    def entry(self, name):
        content = self.files[name]
        entry = {"rfilename": name}
        if self.with_hashes:
            pointer = b"version https://git-lfs.github.com/spec/v1\n"
            entry |= {"size": len(content), "blobId": git_hash(pointer if self.is_large(name) else content)}
            if self.is_large(name):
                entry["lfs"] = {"sha256": sha256(content), "size": len(content), "pointerSize": len(pointer)}
        return entry

    def reply_hub(self, request):
        if self.statuses:
            status, headers = self.statuses.pop(0)
            return request.answer(status, b"{}", **headers)
        path = urllib.parse.urlparse(request.path).path
        if self.token and request.headers.get("Authorization") != f"Bearer {self.token}":
            return request.answer(401, b"{}", X_Error_Code="GatedRepo", X_Error_Message="Access is restricted")
        api = re.fullmatch(r"/api/models/([^/]+/[^/]+)/revision/([^/]+)", path)
        file = re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        if (api or file) and (api or file).group(1) == "someone/old":
            return request.answer(307, Location=request.path.replace("someone/old", "someone/tiny"))
        if (api or file) is None or (api or file).group(1) != "someone/tiny":
            return request.answer(401, b"{}", X_Error_Code="RepoNotFound", X_Error_Message="Repository not found")
        if api:
            commit = self.revisions.get(urllib.parse.unquote(api.group(2)))
            if commit is None:
                return request.answer(404, b"{}", X_Error_Code="RevisionNotFound")
            names = [self.entry(name) for name in self.files] + [{"rfilename": name} for name in self.extra_names]
            return request.answer(200, json.dumps({"id": "someone/tiny", "sha": commit, "siblings": names}).encode())
        name = urllib.parse.unquote(file.group(3))
        if name not in self.files:
            return request.answer(404, b"{}", X_Error_Code="EntryNotFound")
        content = self.files[name]
        if self.is_large(name):
            return request.answer(302, Location=f"{self.url('cdn')}/lfs/{sha256(content)}", X_Linked_Size=len(content),
                                  X_Linked_ETag=f'"{sha256(content)}"', X_Repo_Commit=COMMIT)  # fmt: skip
        request.send_content(content, git_hash(content))

    def reply_cdn(self, request):
        wanted = request.path.removeprefix("/lfs/")
        for name, content in self.files.items():
            if sha256(content) == wanted:
                if name in self.damaged:
                    content = content[:-1] + bytes([content[-1] ^ 1])
                return request.send_content(content, "an-etag-of-the-store")
        request.answer(404)
