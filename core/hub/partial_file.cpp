#include "core/hub/partial_file.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/system_reason.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace headscope::hub {

namespace fs = std::filesystem;

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
    if (descriptor_ >= 0)
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
                 "free some space, or choose another folder with --cache or HF_HOME")
            : tr("partial_file.other_folder", "choose a folder that can be written with --cache or HF_HOME");
    fail_input(tr("partial_file.cannot_write", "cannot write {}: {}; {}", path_.string(),
                  system_reason(error), remedy));
}

void PartialFile::add(std::string_view bytes) {
    if (bytes.size() > expected_size_ - written_) {
        discard();
        fail_input(
            tr("partial_file.too_long",
               "the server sends more than the {} bytes that it announced for this file; try again later",
               expected_size_));
    }
    while (!bytes.empty()) {
        const ssize_t wrote = ::write(descriptor_, bytes.data(), bytes.size());
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0) {
            const int error = errno;
            discard(); // a full disk needs the space
            fail(error);
        }
        bytes.remove_prefix(static_cast<std::size_t>(wrote));
        written_ += static_cast<std::uint64_t>(wrote);
        grown_(wrote);
    }
    hash_->grown_to(written_);
}

void PartialFile::restart() {
    if (written_ == 0)
        return;
    hash_.reset();
    if (::ftruncate(descriptor_, 0) != 0 || ::lseek(descriptor_, 0, SEEK_SET) < 0)
        fail(errno);
    grown_(-static_cast<std::int64_t>(std::exchange(written_, 0)));
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
    ::unlink(path_.c_str());
}

} // namespace headscope::hub
