#include "app/shell/control/control_socket.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/system_reason.h"

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
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
    fail_input(tr("cannot listen at {}: {}; name another path", path, why));
}

[[noreturn]] void fail_now(const std::string& path) {
    fail(path, system_reason(errno));
}

sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
        fail(path, tr("the path of a socket has at most {} bytes", sizeof address.sun_path - 1));
    std::memcpy(static_cast<void*>(address.sun_path), path.data(), path.size());
    return address;
}

int connect_to(int socket, const sockaddr_un& address) {
    return ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

/// Takes away what an ended program left. Throws for anything else that stands there.
void clear_place(const std::string& path, const sockaddr_un& address) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0)
        return;
    if (!S_ISSOCK(status.st_mode))
        fail(path, tr("a file has that name"));
    const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool taken = connect_to(probe, address) == 0;
    ::close(probe);
    if (taken)
        fail(path, tr("another program listens there"));
    ::unlink(path.c_str());
}

bool same_user(int client) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

} // namespace

struct ControlSocket::Impl {
    std::string path;
    std::function<void()> wake;
    int listening = -1, stop = -1;
    std::mutex mutex; ///< guards what follows
    std::map<std::uint64_t, int> clients;
    std::vector<ControlLine> lines;
    std::thread thread;

    void run() {
        std::map<std::uint64_t, std::string> begun; // of each client: what has no line end yet
        std::uint64_t next = 1;
        for (;;) {
            std::vector<pollfd> watched{{stop, POLLIN, 0}, {listening, POLLIN, 0}};
            std::vector<std::uint64_t> who;
            {
                const std::lock_guard lock(mutex);
                for (const auto& [id, client] : clients) {
                    watched.push_back({client, POLLIN, 0});
                    who.push_back(id);
                }
            }
            if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR)
                return;
            if (watched[0].revents != 0)
                return;
            for (std::size_t n = 0; n < who.size(); ++n)
                if (watched[n + 2].revents != 0 && !read_from(who[n], watched[n + 2].fd, begun[who[n]]))
                    begun.erase(who[n]);
            if (watched[1].revents != 0)
                accept_one(next++);
        }
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
        clients[id] = client;
    }

    /// Returns whether the client is still there. One that sends no line ends is let go.
    bool read_from(std::uint64_t id, int client, std::string& begun) {
        char bytes[65536];
        const ssize_t got = ::recv(client, bytes, sizeof bytes, 0);
        if (got < 0 && errno == EINTR)
            return true;
        if (got > 0)
            begun.append(bytes, static_cast<std::size_t>(got));
        bool came = false;
        {
            const std::lock_guard lock(mutex);
            for (std::size_t end = begun.find('\n'); end != std::string::npos; end = begun.find('\n')) {
                lines.push_back({id, begun.substr(0, end)});
                begun.erase(0, end + 1);
                came = true;
            }
            if (got <= 0 || begun.size() > longest_line) {
                ::close(client);
                clients.erase(id);
                begun.clear();
            }
        }
        if (came)
            wake();
        return got > 0;
    }
};

ControlSocket::ControlSocket(const std::string& path, std::function<void()> wake)
    : impl_(std::make_unique<Impl>()) {
    impl_->path = path;
    impl_->wake = std::move(wake);
    const sockaddr_un address = address_of(path);
    clear_place(path, address);
    impl_->listening = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // Sets the mode before the file exists: a umask would hold for the files of other threads, too.
    const bool bound =
        ::fchmod(impl_->listening, 0600) == 0 &&
        ::bind(impl_->listening, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    if (!bound || ::listen(impl_->listening, 8) != 0) {
        const int error = errno;
        ::close(impl_->listening);
        errno = error;
        fail_now(path);
    }
    impl_->stop = ::eventfd(0, EFD_CLOEXEC);
    impl_->thread = std::thread([impl = impl_.get()] { impl->run(); });
}

ControlSocket::~ControlSocket() {
    ::eventfd_write(impl_->stop, 1);
    impl_->thread.join();
    for (const auto& [id, client] : impl_->clients)
        ::close(client);
    ::close(impl_->listening);
    ::close(impl_->stop);
    ::unlink(impl_->path.c_str());
}

std::vector<ControlLine> ControlSocket::take() {
    const std::lock_guard lock(impl_->mutex);
    return std::exchange(impl_->lines, {});
}

void ControlSocket::answer(std::uint64_t to, const std::string& line) {
    const std::lock_guard lock(impl_->mutex);
    const auto found = impl_->clients.find(to);
    if (found == impl_->clients.end())
        return;
    const std::string bytes = line + "\n";
    for (std::size_t sent = 0; sent < bytes.size();) {
        // A reader that is behind by more than a second is let wait no longer: the window draws meanwhile.
        pollfd ready{found->second, POLLOUT, 0};
        if (::poll(&ready, 1, 1000) <= 0)
            return;
        const ssize_t wrote =
            ::send(found->second, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (wrote < 0 && errno != EINTR && errno != EAGAIN)
            return;
        sent += wrote > 0 ? static_cast<std::size_t>(wrote) : 0;
    }
}

} // namespace headscope::app
