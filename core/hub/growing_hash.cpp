#include "core/hub/growing_hash.h"

#include "core/base/file.h"
#include "core/base/random_access_file.h"
#include "core/base/sha256.h"
#include "core/hub/git_blob_hash.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace headscope::hub {

namespace {

constexpr std::size_t piece = mebibyte;         ///< bytes that are read at once
constexpr std::uint64_t stretch = 4 * mebibyte; ///< bytes for which the thread is woken
constexpr std::size_t git_hash_digits = 40;

} // namespace

GrowingHash::GrowingHash(std::string path, std::string like, std::uint64_t size)
    : path_(std::move(path)), like_(std::move(like)), size_(size), thread_([this] { run(); }) {}

GrowingHash::~GrowingHash() {
    {
        const std::scoped_lock lock(mutex_);
        abandoned_ = finished_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable())
        thread_.join();
}

void GrowingHash::grown_to(std::uint64_t bytes) {
    grown_ = bytes;
    if (bytes < told_ + stretch)
        return;
    told_ = bytes;
    {
        const std::scoped_lock lock(mutex_);
        available_ = bytes;
    }
    changed_.notify_one();
}

std::string GrowingHash::finish() {
    {
        const std::scoped_lock lock(mutex_);
        available_ = grown_;
        finished_ = true;
    }
    changed_.notify_one();
    thread_.join();
    if (fault_)
        std::rethrow_exception(fault_);
    return result_;
}

std::uint64_t GrowingHash::wait_beyond(std::uint64_t done) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return finished_ || available_ > done; });
    return abandoned_ ? done : available_;
}

template<class Hash>
void GrowingHash::follow(Hash hash) {
    std::vector<char> buffer(piece);
    std::uint64_t done = 0;
    for (std::uint64_t end = wait_beyond(done); end > done; end = wait_beyond(done)) {
        const RandomAccessFile file(path_);
        while (done < end) {
            const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(piece, end - done));
            const std::span<char> part(buffer.data(), some);
            file.read(done, part);
            hash.add(std::as_bytes(std::span<const char>(part)));
            done += some;
        }
    }
    result_ = hash.finish();
}

void GrowingHash::run() {
    try {
        if (like_.size() == git_hash_digits)
            follow(GitBlobHash(size_));
        else
            follow(Sha256());
    } catch (...) {
        fault_ = std::current_exception();
    }
}

} // namespace headscope::hub
