#include "app/shell/control/control_socket.h"

#include "tests/catch.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

// A socket with clients that behave as badly as they can.

namespace headscope::test {

using namespace headscope::app;

namespace {

using Clock = std::chrono::steady_clock;

/// A program at the other end. Throws instead of asserting: Catch2 is for one thread.
class SocketClient {
public:
    explicit SocketClient(const std::string& path)
        : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(static_cast<void*>(address.sun_path), path.data(), path.size());
        if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
            throw std::runtime_error("a client cannot connect");
        const timeval patience{30, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    }
    ~SocketClient() { close(); }
    SocketClient(const SocketClient&) = delete;
    SocketClient& operator=(const SocketClient&) = delete;

    void send(std::string_view bytes) const {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0)
                throw std::runtime_error("a client cannot send");
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
    }
    /// Sends as much as fits without blocking. Returns the number of bytes.
    std::size_t send_what_fits(std::string_view bytes) const {
        const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        return sent > 0 ? static_cast<std::size_t>(sent) : 0;
    }
    /// The next line; empty at the end, or after half a minute.
    std::string line() {
        for (;;) {
            if (const auto end = read_.find('\n'); end != std::string::npos) {
                const std::string line = read_.substr(0, end);
                read_.erase(0, end + 1);
                return line;
            }
            char bytes[65536];
            const ssize_t got = ::recv(socket_, bytes, sizeof bytes, 0);
            if (got <= 0)
                return {};
            read_.append(bytes, static_cast<std::size_t>(got));
        }
    }
    void end_sending() const { ::shutdown(socket_, SHUT_WR); }
    void close() {
        if (socket_ >= 0)
            ::close(socket_);
        socket_ = -1;
    }

private:
    int socket_;
    std::string read_;
};

bool comes_true(const std::function<bool()>& holds) {
    for (const auto end = Clock::now() + std::chrono::seconds(30); Clock::now() < end;
         std::this_thread::sleep_for(std::chrono::milliseconds(2)))
        if (holds())
            return true;
    return false;
}

/// Takes lines until there are so many.
std::vector<ControlLine> taken(ControlSocket& socket, std::size_t count) {
    std::vector<ControlLine> lines;
    REQUIRE(comes_true([&] {
        for (ControlLine& line : socket.take())
            lines.push_back(std::move(line));
        return lines.size() >= count;
    }));
    return lines;
}

} // namespace

TEST_CASE("a client that never reads its answers neither stops the window nor takes memory without end",
          "[control][threads]") {
    const TemporaryFolder folder;
    std::atomic<int> wakes = 0;
    ControlSocket socket(folder.file("s"), [&] { ++wakes; });
    const SocketClient silent(folder.file("s"));
    silent.send("first\n");
    const std::uint64_t from = taken(socket, 1).front().from;
    const std::string large(3 << 20, 'x');
    const auto began = Clock::now();
    socket.answer(from, large);
    CHECK(socket.is_slow(from)); // the rest would only wait here
    CHECK(Clock::now() - began < std::chrono::milliseconds(500));

    // It is not read from while it does not read.
    std::size_t sent = 0;
    const std::string lines(4096, '\n');
    for (int quiet = 0; quiet < 20;) {
        const std::size_t more = silent.send_what_fits(lines);
        sent += more;
        quiet = more == 0 ? quiet + 1 : 0;
        std::this_thread::sleep_for(std::chrono::milliseconds(more == 0 ? 5 : 0));
        REQUIRE(sent < std::size_t{64} << 20U);
    }
    CHECK(socket.take().size() <= 2 * lines.size() + 65536);

    // Others are answered meanwhile.
    SocketClient other(folder.file("s"));
    other.send("hello\n");
    const ControlLine line = taken(socket, 1).front();
    CHECK(line.text == "hello");
    socket.answer(line.from, "to you");
    CHECK(other.line() == "to you");
    CHECK(wakes >= 2);
}

TEST_CASE("a slow client gets every answer whole, and the window hears when it has caught up",
          "[control][threads]") {
    const TemporaryFolder folder;
    std::atomic<int> wakes = 0;
    ControlSocket socket(folder.file("s"), [&] { ++wakes; });
    SocketClient client(folder.file("s"));
    client.send("a\nb\n");
    const std::uint64_t from = taken(socket, 2).front().from;
    const std::string large(5 << 20, 'x');
    socket.answer(from, large);
    REQUIRE(socket.is_slow(from));
    const int before = wakes;
    CHECK(client.line() == large);
    CHECK(comes_true([&] { return !socket.is_slow(from) && wakes > before; }));
    socket.answer(from, "second");
    CHECK(client.line() == "second");
    client.send("c\n");
    CHECK(taken(socket, 1).front().text == "c");
}

TEST_CASE("a client that sends no more gets the answers that it still waits for", "[control][threads]") {
    const TemporaryFolder folder;
    ControlSocket socket(folder.file("s"), [] {});
    SocketClient client(folder.file("s"));
    client.send("a\nb\nunfinished");
    client.end_sending();
    const std::vector<ControlLine> lines = taken(socket, 2);
    CHECK(lines.size() == 2);
    socket.answer(lines[0].from, "1");
    CHECK(client.line() == "1");
    socket.answer(lines[1].from, "2");
    CHECK(client.line() == "2");
    CHECK(client.line().empty()); // then the socket closes its end
}

TEST_CASE("a line that is too long is skipped, and the next one is read", "[control][threads]") {
    const TemporaryFolder folder;
    ControlSocket socket(folder.file("s"), [] {});
    const SocketClient client(folder.file("s"));
    const std::string longest(ControlSocket::longest_line, 'x');
    std::thread sender(
        [&] { client.send(longest + "\n" + longest + "x\n" + longest + longest + longest + "\nnext\n"); });
    std::vector<ControlLine> lines;
    REQUIRE(comes_true([&] {
        for (ControlLine& line : socket.take()) {
            socket.answer(line.from, "");
            lines.push_back(std::move(line));
        }
        return lines.size() == 4;
    }));
    sender.join();
    CHECK((lines[0].text == longest && !lines[0].too_long));
    CHECK((lines[1].text.empty() && lines[1].too_long));
    CHECK((lines[2].text.empty() && lines[2].too_long));
    CHECK((lines[3].text == "next" && !lines[3].too_long));
}

TEST_CASE("clients that come and go while others are answered do no harm", "[control][threads]") {
    const TemporaryFolder folder;
    std::atomic<int> wakes = 0;
    ControlSocket socket(folder.file("s"), [&] { ++wakes; });
    std::atomic<int> done = 0;
    std::vector<std::thread> others;
    for (int n = 0; n < 3; ++n)
        others.emplace_back([&, n] {
            for (int turn = 0; turn < 40; ++turn) {
                SocketClient client(folder.file("s"));
                client.send("line\nanother\n");
                if ((turn + n) % 3 == 0)
                    client.line();
                else if ((turn + n) % 3 == 1)
                    client.end_sending();
            }
            ++done;
        });
    std::size_t lines = 0;
    REQUIRE(comes_true([&] {
        for (const ControlLine& line : socket.take()) {
            ++lines;
            socket.answer(line.from, std::string(1000, 'y'));
        }
        return done == 3;
    }));
    for (std::thread& other : others)
        other.join();
    CHECK(lines >= 40);
}

TEST_CASE("the socket's file goes with its object, and when a signal ends the program", "[control]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("s");
    {
        const ControlSocket socket(path, [] {});
        CHECK(std::filesystem::exists(path));
    }
    CHECK_FALSE(std::filesystem::exists(path));
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGKILL}) {
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            for (const int one : {SIGTERM, SIGINT, SIGHUP})
                std::signal(one, SIG_DFL);           // Catch2 handles some
            const ControlSocket socket(path, [] {}); // replaces what SIGKILL leaves
            ::raise(signal);
            ::_exit(7);
        }
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        CAPTURE(signal);
        CHECK((WIFSIGNALED(status) && WTERMSIG(status) == signal));
        CHECK(std::filesystem::exists(path) == (signal == SIGKILL));
    }
    const ControlSocket again(path, [] {});
    CHECK_THAT(input_error([&] { ControlSocket(path, [] {}); }),
               Catch::Contains("another program listens there"));
}

} // namespace headscope::test
