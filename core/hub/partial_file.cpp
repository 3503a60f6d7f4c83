#include "core/hub/partial_file.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/message.h"
#include "core/base/system_reason.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace headscope::hub {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t piece_size = mebibyte / 4;        ///< bytes that are written at once
constexpr std::uint64_t write_out_size = 32 * mebibyte; ///< bytes after which the disk begins to write

} // namespace

PartialFile::PartialFile(fs::path path, std::uint64_t size, std::string hash, Grown grown)
    : path_(std::move(path)), expected_size_(size), expected_hash_(std::move(hash)), grown_(std::move(grown)),
      descriptor_(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)) {
    struct stat status {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0)
        fail(errno);
    written_ = static_cast<std::uint64_t>(status.st_size);
    if (written_ > expected_size_)
        written_ = 0;
    if (::ftruncate(descriptor_, static_cast<off_t>(written_)) != 0 ||
        ::lseek(descriptor_, static_cast<off_t>(written_), SEEK_SET) < 0)
        fail(errno);
    follow();
    grown_(static_cast<std::int64_t>(written_));
}

PartialFile::~PartialFile() {
    if (descriptor_ < 0)
        return;
    write_some(pending_); // a later download continues after these bytes
    ::close(descriptor_);
}

void PartialFile::follow() {
    hash_ = std::make_unique<GrowingHash>(path_.string(), expected_hash_, expected_size_);
    hash_->grown_to(written_);
}

void PartialFile::fail(int error) const {
    const std::string remedy =
        error == ENOSPC || error == EDQUOT
            ? tr("partial_file.free_space",
                 "free some space, or choose another folder with HF_HOME or --cache")
            : tr("partial_file.other_folder", "choose a folder that can be written with HF_HOME or --cache");
    fail_input(tr("partial_file.cannot_write", "cannot write {}: {}; {}", path_.string(),
                  system_reason(error), remedy));
}

void PartialFile::add(std::string_view bytes) {
    if (bytes.size() > expected_size_ - size()) {
        discard();
        fail_input(
            tr("partial_file.too_long",
               "the server sends more than the {} bytes that it announced for this file; try again later",
               expected_size_));
    }
    pending_ += bytes;
    grown_(static_cast<std::int64_t>(bytes.size()));
    if (pending_.size() >= piece_size || size() == expected_size_)
        write_pending();
}

bool PartialFile::write_some(std::string_view bytes) noexcept {
    while (!bytes.empty()) {
        const ssize_t wrote = ::write(descriptor_, bytes.data(), bytes.size());
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return false;
        bytes.remove_prefix(static_cast<std::size_t>(wrote));
    }
    return true;
}

void PartialFile::write_pending() {
    const std::uint64_t before = written_;
    if (!write_some(pending_)) {
        const int error = errno;
        discard(); // a full disk needs the space
        fail(error);
    }
    written_ += pending_.size();
    pending_.clear();
    // The disk writes while the next bytes arrive, so that move_to() does not wait for the whole file.
    if (const std::uint64_t end = written_ / write_out_size * write_out_size; end > before)
        ::sync_file_range(descriptor_, static_cast<off64_t>(end - write_out_size),
                          static_cast<off64_t>(write_out_size), SYNC_FILE_RANGE_WRITE);
    hash_->grown_to(written_);
}

void PartialFile::restart() {
    if (size() == 0)
        return;
    const std::uint64_t dropped = size();
    pending_.clear();
    hash_.reset();
    if (::ftruncate(descriptor_, 0) != 0 || ::lseek(descriptor_, 0, SEEK_SET) < 0)
        fail(errno);
    written_ = 0;
    grown_(-static_cast<std::int64_t>(dropped));
    follow();
}

bool PartialFile::has_expected_hash() {
    return hash_->finish() == expected_hash_;
}

void PartialFile::move_to(const fs::path& target) {
    if (::fdatasync(descriptor_) != 0 && errno != EINVAL)
        fail(errno);
    if (::rename(path_.c_str(), target.c_str()) != 0)
        fail(errno);
}

void PartialFile::discard() {
    pending_.clear();
    ::unlink(path_.c_str());
}

} // namespace headscope::hub
