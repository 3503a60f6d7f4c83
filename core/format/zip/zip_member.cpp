#include "core/format/zip/zip_member.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>
#include <zlib.h>

namespace headscope::format {

namespace {

constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 18U;

/// A decompressor at some place of a raw deflate stream.
class Inflater {
public:
    Inflater() {
        // Negative: without the header and checksum of zlib's own format.
        if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK)
            throw Error(ErrorKind::machine, "zlib could not be started");
    }
    Inflater(const Inflater& other) : taken(other.taken), given(other.given), ended(other.ended) {
        if (inflateCopy(&stream_, const_cast<z_stream*>(&other.stream_)) != Z_OK)
            throw Error(ErrorKind::machine, "zlib could not copy its state");
    }
    Inflater& operator=(const Inflater&) = delete;
    ~Inflater() { inflateEnd(&stream_); }

    std::uint64_t taken = 0; ///< packed bytes so far
    std::uint64_t given = 0; ///< unpacked bytes so far
    bool ended = false;      ///< the stream is complete

    /// Unpacks into `to` as far as `packed` reaches. Returns the number of bytes; nothing for invalid data.
    std::optional<std::size_t> unpack(std::span<char> packed, std::span<char> to) {
        stream_.next_in = reinterpret_cast<Bytef*>(packed.data());
        stream_.avail_in = static_cast<uInt>(packed.size());
        stream_.next_out = reinterpret_cast<Bytef*>(to.data());
        stream_.avail_out = static_cast<uInt>(to.size());
        const int result = inflate(&stream_, Z_NO_FLUSH);
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
            return std::nullopt;
        const std::size_t made = to.size() - stream_.avail_out;
        taken += packed.size() - stream_.avail_in;
        given += made;
        ended = result == Z_STREAM_END;
        return made;
    }

private:
    z_stream stream_{};
};

} // namespace

class ZipMember::Unpacked {
public:
    Unpacked(ByteSource bytes, const ZipArchive::Place& place, std::string source)
        : bytes_(std::move(bytes)), place_(place), source_(std::move(source)) {}
    Unpacked(const Unpacked&) = delete;
    Unpacked& operator=(const Unpacked&) = delete;
    virtual ~Unpacked() = default;

    const ZipArchive::Place& place() const { return place_; }
    virtual void read(std::uint64_t begin, std::span<char> to) = 0;
    virtual void release() {}

    void check() {
        const std::scoped_lock lock(checking_);
        if (is_checked_)
            return;
        std::vector<char> piece(static_cast<std::size_t>(std::min(piece_bytes, place_.size)));
        uLong crc = crc32(0, nullptr, 0);
        for (std::uint64_t at = 0; at < place_.size;) {
            const std::span<char> part =
                std::span(piece).first(static_cast<std::size_t>(std::min(piece_bytes, place_.size - at)));
            read(at, part);
            crc = crc32(crc, reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(part.size()));
            at += part.size();
        }
        if (crc != place_.crc)
            fail_input(
                tr("zip_member.checksum",
                   "{} is damaged: its bytes do not match the checksum in the file; get the file again",
                   source_));
        is_checked_ = true;
        release();
    }

protected:
    ByteSource bytes_;
    ZipArchive::Place place_;
    std::string source_;

private:
    std::mutex checking_;
    bool is_checked_ = false;
};

class ZipMember::Stored final : public Unpacked {
public:
    using Unpacked::Unpacked;
    void read(std::uint64_t begin, std::span<char> to) override {
        bytes_.read(place_.packed.begin + begin, to);
    }
};

class ZipMember::Deflated final : public Unpacked {
public:
    using Unpacked::Unpacked;

    void read(std::uint64_t begin, std::span<char> to) override {
        const std::scoped_lock lock(mutex_);
        go_to(begin);
        std::vector<char> packed; // not a member: a file may have thousands of arrays
        std::vector<char> skipped(static_cast<std::size_t>(std::min(begin - now_->given, piece_bytes)));
        while (now_->given < begin)
            unpack(packed, std::span(skipped).first(static_cast<std::size_t>(
                               std::min<std::uint64_t>(begin - now_->given, skipped.size()))));
        while (!to.empty()) {
            const std::span<char> part = to.first(std::min<std::size_t>(to.size(), piece_bytes));
            unpack(packed, part);
            to = to.subspan(part.size());
        }
    }
    void release() override {
        const std::scoped_lock lock(mutex_);
        now_.reset();
    }

private:
    [[noreturn]] void fail_damaged() const {
        fail_input(tr("zip_member.damaged", "{} is damaged: it cannot be decompressed; get the file again",
                      source_));
    }

    /// Continues from the last remembered state before `begin`, unless the present one is nearer.
    void go_to(std::uint64_t begin) {
        const auto after = std::ranges::upper_bound(
            points_, begin, {}, [](const std::unique_ptr<Inflater>& point) { return point->given; });
        const Inflater* const nearest = after == points_.begin() ? nullptr : std::prev(after)->get();
        if (now_ != nullptr && now_->given <= begin && (nearest == nullptr || now_->given >= nearest->given))
            return;
        now_ = nearest == nullptr ? std::make_unique<Inflater>() : std::make_unique<Inflater>(*nearest);
    }

    /// Fills all of `to`. `packed` is the buffer for the bytes of the file.
    void unpack(std::vector<char>& packed, std::span<char> to) {
        while (!to.empty()) {
            const std::uint64_t left = place_.packed.size - now_->taken;
            packed.resize(static_cast<std::size_t>(std::min(left, piece_bytes)));
            if (now_->ended)
                fail_damaged();
            bytes_.read(place_.packed.begin + now_->taken, packed);
            const std::uint64_t taken = now_->taken;
            const auto made = now_->unpack(packed, to);
            if (!made || (*made == 0 && now_->taken == taken))
                fail_damaged();
            to = to.subspan(*made);
            constexpr std::uint64_t least = std::uint64_t{1} << 24U, most_points = 256;
            const std::uint64_t last = points_.empty() ? 0 : points_.back()->given;
            if (now_->given >= last + std::max(least, place_.size / most_points))
                points_.push_back(std::make_unique<Inflater>(*now_));
        }
    }

    std::mutex mutex_;
    std::vector<std::unique_ptr<Inflater>> points_; ///< ascending
    std::unique_ptr<Inflater> now_;                 ///< null before the first read and once released
};

ZipMember::ZipMember(ByteSource bytes, const ZipArchive::Place& place, std::string source) {
    if (place.is_deflated)
        unpacked_ = std::make_shared<Deflated>(std::move(bytes), place, std::move(source));
    else
        unpacked_ = std::make_shared<Stored>(std::move(bytes), place, std::move(source));
}

std::uint64_t ZipMember::size() const {
    return unpacked_->place().size;
}

void ZipMember::read(std::uint64_t begin, std::span<char> to) const {
    if (begin > size() || to.size() > size() - begin)
        throw Error(ErrorKind::internal, "read beyond the end of a file in an archive");
    unpacked_->read(begin, to);
}

void ZipMember::check() const {
    unpacked_->check();
}

void ZipMember::release() const {
    unpacked_->release();
}

} // namespace headscope::format
