#include "app/shell/control/control_socket.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/system_reason.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace headscope::app {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) {
    fail_input(
        tr("control_socket.cannot_listen_name", "cannot listen at {}: {}; name another path", path, why));
}

[[noreturn]] void fail_now(const std::string& path) {
    fail(path, system_reason(errno));
}

sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
        fail(path, tr("control_socket.path_socket_most_bytes", "the path of a socket has at most {} bytes",
                      sizeof address.sun_path - 1));
    std::memcpy(static_cast<void*>(address.sun_path), path.data(), path.size());
    return address;
}

int connect_to(int socket, const sockaddr_un& address) {
    return ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

/// Removes the socket of a program that has ended. Throws for any other file.
void remove_stale_socket(const std::string& path, const sockaddr_un& address) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0)
        return;
    if (!S_ISSOCK(status.st_mode))
        fail(path, tr("control_socket.file_name", "a file has that name"));
    const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool taken = connect_to(probe, address) == 0;
    ::close(probe);
    if (taken)
        fail(path, tr("control_socket.another_program_listens", "another program listens there"));
    ::unlink(path.c_str());
}

constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};

/// The file that a signal handler removes. Signal handlers must only read objects of such a type.
sockaddr_un removed_by_signal{};

void remove_and_end(int signal) {
    ::unlink(static_cast<const char*>(removed_by_signal.sun_path));
    std::signal(signal, SIG_DFL);
    ::raise(signal);
}

/// Makes signals that end the program remove the file first. Does not change signals that are handled or
/// ignored (nohup).
void remove_on_signal(const sockaddr_un& address) {
    removed_by_signal = address;
    for (const int signal : ending_signals) {
        struct sigaction now {};
        if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_DFL)
            std::signal(signal, remove_and_end);
    }
}

void keep_on_signal() {
    for (const int signal : ending_signals) {
        struct sigaction now {};
        if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == remove_and_end)
            std::signal(signal, SIG_DFL);
    }
}

bool same_user(int client) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

/// A connected client.
struct Client {
    int descriptor = -1;
    std::string begun;               ///< incomplete line
    bool skips = false;              ///< skips the rest of a line that is too long
    bool ended = false;              ///< sends nothing more
    bool broken = false;             ///< accepts nothing more
    std::deque<std::size_t> waiting; ///< size in bytes of each line without an answer
    std::size_t waiting_bytes = 0;   ///< their sum
    std::string unsent;              ///< bytes of answers
    std::size_t sent = 0;            ///< part of `unsent` that was sent

    bool reads() const {
        return !ended && waiting.size() < ControlSocket::most_waiting &&
               waiting_bytes < ControlSocket::longest_line && !slow();
    }
    bool writes() const { return !unsent.empty(); }
    bool slow() const { return unsent.size() - sent > ControlSocket::most_unsent; }
    bool done() const { return ended && waiting.empty() && unsent.empty(); }
};

void write_some(Client& client) {
    while (client.writes()) {
        const ssize_t wrote = ::send(client.descriptor, client.unsent.data() + client.sent,
                                     client.unsent.size() - client.sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0 && errno == EAGAIN)
            return;
        client.broken = client.broken || wrote < 0;
        client.sent += wrote > 0 ? static_cast<std::size_t>(wrote) : 0;
        if (client.broken || client.sent == client.unsent.size()) {
            client.unsent.clear();
            client.unsent.shrink_to_fit();
            client.sent = 0;
        }
    }
}

/// Returns the next complete line of a client; nothing if there is none yet.
std::optional<ControlLine> next_line(Client& client) {
    const std::size_t end = client.begun.find('\n');
    const bool too_long =
        (end == std::string::npos ? client.begun.size() : end) > ControlSocket::longest_line;
    client.skips = client.skips || too_long;
    if (end == std::string::npos) {
        if (client.skips)
            client.begun.clear();
        return std::nullopt;
    }
    ControlLine line;
    line.too_long = std::exchange(client.skips, false);
    if (!line.too_long)
        line.text = client.begun.substr(0, end);
    client.begun.erase(0, end + 1);
    client.waiting.push_back(line.text.size());
    client.waiting_bytes += line.text.size();
    return line;
}

/// Reads once; returns true if lines arrived.
bool read_some(std::uint64_t id, Client& client, std::vector<ControlLine>& lines) {
    char bytes[65536];
    const ssize_t got = ::recv(client.descriptor, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return false;
    client.ended = got <= 0;
    client.broken = client.broken || got < 0;
    if (got > 0)
        client.begun.append(bytes, static_cast<std::size_t>(got));
    bool came = false;
    while (std::optional<ControlLine> line = next_line(client)) {
        line->from = id;
        lines.push_back(std::move(*line));
        came = true;
    }
    return came;
}

} // namespace

struct ControlSocket::Impl {
    std::string path;
    std::function<void()> wake;
    int listening = -1, event = -1; ///< event: wakes the thread
    mutable std::mutex mutex;       ///< guards the following members
    bool stopping = false;
    std::map<std::uint64_t, Client> clients;
    std::vector<ControlLine> lines;
    std::thread thread;

    void tell_thread() const { ::eventfd_write(event, 1); }

    void run() {
        std::uint64_t next = 1;
        for (;;) {
            std::vector<pollfd> watched{{event, POLLIN, 0}, {listening, POLLIN, 0}};
            std::vector<std::uint64_t> who;
            if (!list(watched, who))
                return;
            if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR)
                return;
            if (eventfd_t count = 0; watched[0].revents != 0)
                ::eventfd_read(event, &count);
            bool came = false;
            for (std::size_t n = 0; n < who.size(); ++n)
                came = (watched[n + 2].revents != 0 && serve(who[n], watched[n + 2].revents)) || came;
            if (watched[1].revents != 0)
                accept_one(next++);
            if (came)
                wake();
        }
    }

    /// Closes clients that are done and lists the descriptors to wait for. Returns false if the thread should
    /// end.
    bool list(std::vector<pollfd>& watched, std::vector<std::uint64_t>& who) {
        const std::lock_guard lock(mutex);
        std::erase_if(clients, [](const auto& entry) {
            const bool done = entry.second.done();
            if (done)
                ::close(entry.second.descriptor);
            return done;
        });
        for (const auto& [id, client] : clients) {
            const int events = (client.reads() ? POLLIN : 0) | (client.writes() ? POLLOUT : 0);
            // Exclude clients without events: poll() would report a hang-up permanently.
            watched.push_back({events == 0 ? -1 : client.descriptor, static_cast<short>(events), 0});
            who.push_back(id);
        }
        return !stopping;
    }

    /// Returns true if the window has something to do for the client.
    bool serve(std::uint64_t id, int events) {
        const std::lock_guard lock(mutex);
        Client& client = clients.at(id);
        const bool was_slow = client.slow();
        if ((events & (POLLOUT | POLLERR | POLLHUP)) != 0)
            write_some(client);
        const bool came =
            (events & (POLLIN | POLLERR | POLLHUP)) != 0 && client.reads() && read_some(id, client, lines);
        return came || (was_slow && !client.slow());
    }

    void accept_one(std::uint64_t id) {
        const int client = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0)
            return;
        if (!same_user(client)) {
            ::close(client);
            return;
        }
        const std::lock_guard lock(mutex);
        clients[id].descriptor = client;
    }
};

ControlSocket::ControlSocket(const std::string& path, std::function<void()> wake)
    : impl_(std::make_unique<Impl>()) {
    impl_->path = path;
    impl_->wake = std::move(wake);
    const sockaddr_un address = address_of(path);
    remove_stale_socket(path, address);
    impl_->listening = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // Sets the mode before the file exists; a umask would also affect files of other threads.
    const bool bound =
        ::fchmod(impl_->listening, 0600) == 0 &&
        ::bind(impl_->listening, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    if (!bound || ::listen(impl_->listening, 8) != 0) {
        const int error = errno;
        ::close(impl_->listening);
        errno = error;
        fail_now(path);
    }
    remove_on_signal(address);
    impl_->event = ::eventfd(0, EFD_CLOEXEC);
    impl_->thread = std::thread([impl = impl_.get()] { impl->run(); });
}

ControlSocket::~ControlSocket() {
    {
        const std::lock_guard lock(impl_->mutex);
        impl_->stopping = true;
    }
    impl_->tell_thread();
    impl_->thread.join();
    for (auto& [id, client] : impl_->clients) {
        write_some(client); // for example the answer to "quit"
        ::close(client.descriptor);
    }
    ::close(impl_->listening);
    ::close(impl_->event);
    keep_on_signal();
    ::unlink(impl_->path.c_str());
}

std::vector<ControlLine> ControlSocket::take() {
    const std::lock_guard lock(impl_->mutex);
    return std::exchange(impl_->lines, {});
}

bool ControlSocket::is_slow(std::uint64_t client) const {
    const std::lock_guard lock(impl_->mutex);
    const auto found = impl_->clients.find(client);
    return found != impl_->clients.end() && found->second.slow();
}

void ControlSocket::answer(std::uint64_t to, std::string line) {
    line += '\n';
    {
        const std::lock_guard lock(impl_->mutex);
        const auto found = impl_->clients.find(to);
        if (found == impl_->clients.end())
            return;
        Client& client = found->second;
        if (!client.waiting.empty()) {
            client.waiting_bytes -= client.waiting.front();
            client.waiting.pop_front();
        }
        if (!client.broken)
            client.unsent += line;
    }
    impl_->tell_thread();
}

} // namespace headscope::app
