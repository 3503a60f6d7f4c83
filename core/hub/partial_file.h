#pragma once

#include "core/hub/growing_hash.h"
#include "core/hub/requests.h"

#include <filesystem>
#include <memory>
#include <string>

namespace headscope::hub {

/// A file of a known size and hash while it is downloaded, beside the place where it will be. What an earlier
/// download left there is continued.
class PartialFile : public Body {
public:
    /// Called after bytes were received, with their number; negative after restart().
    using Grown = std::function<void(std::int64_t bytes)>;

    /// Throws Error(input) if the file cannot be written.
    PartialFile(std::filesystem::path path, std::uint64_t size, std::string hash, Grown grown);
    ~PartialFile() override;

    std::uint64_t size() const override { return written_ + pending_.size(); }
    /// Throws Error(input) if the file cannot be written or would exceed its size, and removes it.
    void add(std::string_view bytes) override;
    void restart() override;
    /// Returns true if the content has the expected hash. Call it once, when size() is the expected size.
    bool has_expected_hash();
    /// Makes the content durable and moves it to `target`. Throws Error(input).
    void move_to(const std::filesystem::path& target);
    /// Removes the file.
    void discard();

private:
    void follow();
    void write_pending();
    bool write_some(std::string_view bytes) noexcept;
    [[noreturn]] void fail(int error) const;

    std::filesystem::path path_;
    std::uint64_t expected_size_, written_ = 0;
    std::string pending_; ///< received and not written yet: libcurl brings 16 kB at a time
    std::string expected_hash_;
    Grown grown_;
    int descriptor_ = -1;
    std::unique_ptr<GrowingHash> hash_;
};

} // namespace headscope::hub
