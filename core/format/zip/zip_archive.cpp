#include "core/format/zip/zip_archive.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <utility>

namespace headscope::format {

namespace {

constexpr std::size_t end_bytes = 22, locator_bytes = 20, end64_bytes = 56, entry_bytes = 46,
                      local_bytes = 30;
constexpr std::uint64_t longest_comment = 0xFFFF;
constexpr std::uint64_t in_zip64_16 = 0xFFFF, in_zip64_32 = 0xFFFFFFFF; ///< "see the zip64 record"
constexpr std::uint16_t encrypted = 1;                                  ///< among the flags of an entry
// More is taken for a damaged file: an entry takes about 100 bytes.
constexpr std::uint64_t largest_directory = std::uint64_t{1} << 26U;

std::uint64_t field(std::string_view record, std::size_t at, std::size_t width) {
    return little_endian(record.substr(at, width));
}

/// The data of the zip64 extension among the extra fields of an entry; empty if there is none.
std::string_view zip64_extension(std::string_view extra) {
    constexpr std::uint64_t zip64_id = 1;
    while (extra.size() >= 4) {
        const std::uint64_t id = field(extra, 0, 2), size = field(extra, 2, 2);
        if (size > extra.size() - 4)
            break;
        if (id == zip64_id)
            return extra.substr(4, size);
        extra.remove_prefix(4 + size);
    }
    return {};
}

} // namespace

void ZipArchive::fail_damaged() const {
    fail_input(tr("zip_archive.directory_damaged",
                  "{}: the directory at the end of this ZIP archive contradicts the rest of the file; the "
                  "file is damaged, get it again",
                  source_));
}

ZipArchive::ZipArchive(ByteSource bytes, std::string source)
    : bytes_(std::move(bytes)), source_(std::move(source)) {
    read_directory(find_directory());
}

std::uint64_t ZipArchive::find_directory() {
    const std::uint64_t size = bytes_.size();
    const std::uint64_t tail_bytes = std::min(size, end_bytes + longest_comment);
    const std::string tail = bytes_.copy(size - tail_bytes, tail_bytes);
    const std::size_t found =
        tail.size() < end_bytes ? std::string::npos : tail.rfind("PK\x05\x06", tail.size() - end_bytes);
    if (found == std::string::npos)
        fail_input(
            tr("zip_archive.cut_short",
               "{} was cut short: it begins as a ZIP archive, but the directory at its end is missing; "
               "get the file again",
               source_));
    const std::string_view end = std::string_view(tail).substr(found, end_bytes);
    const std::uint64_t end_at = size - tail_bytes + found;
    std::uint64_t count = field(end, 10, 2);
    directory_ = {field(end, 16, 4), field(end, 12, 4)};
    if (count == in_zip64_16 || directory_.size == in_zip64_32 || directory_.begin == in_zip64_32) {
        if (end_at < locator_bytes)
            fail_damaged();
        const std::string locator = bytes_.copy(end_at - locator_bytes, locator_bytes);
        const std::uint64_t at = field(locator, 8, 8);
        if (!locator.starts_with("PK\x06\x07") || at > end_at || end_at - at < end64_bytes)
            fail_damaged();
        const std::string record = bytes_.copy(at, end64_bytes);
        if (!record.starts_with("PK\x06\x06"))
            fail_damaged();
        count = field(record, 32, 8);
        directory_ = {field(record, 48, 8), field(record, 40, 8)};
    }
    if (directory_.begin > end_at || directory_.size > end_at - directory_.begin ||
        directory_.size > largest_directory || count > directory_.size / entry_bytes)
        fail_damaged();
    return count;
}

void ZipArchive::read_directory(std::uint64_t count) {
    const std::string all = bytes_.copy(directory_.begin, directory_.size);
    std::string_view left = all;
    for (; count > 0; --count) {
        if (left.size() < entry_bytes || !left.starts_with("PK\x01\x02"))
            fail_damaged();
        const std::size_t name = field(left, 28, 2), extra = field(left, 30, 2), comment = field(left, 32, 2);
        if (name + extra + comment > left.size() - entry_bytes)
            fail_damaged();
        Entry entry{.packed_size = field(left, 20, 4),
                    .size = field(left, 24, 4),
                    .header = field(left, 42, 4),
                    .crc = static_cast<std::uint32_t>(field(left, 16, 4)),
                    .flags = static_cast<std::uint16_t>(field(left, 8, 2)),
                    .method = static_cast<std::uint16_t>(field(left, 10, 2))};
        std::string_view wide = zip64_extension(left.substr(entry_bytes + name, extra));
        for (std::uint64_t* const number : {&entry.size, &entry.packed_size, &entry.header}) {
            if (*number != in_zip64_32)
                continue;
            if (wide.size() < 8)
                fail_damaged();
            *number = field(wide, 0, 8);
            wide.remove_prefix(8);
        }
        if (!entries_.emplace(left.substr(entry_bytes, name), entry).second)
            fail_damaged();
        left.remove_prefix(entry_bytes + name + extra + comment);
    }
}

std::vector<std::string> ZipArchive::names() const {
    std::vector<std::string> all;
    all.reserve(entries_.size());
    for (const auto& [name, entry] : entries_)
        all.push_back(name);
    return all;
}

const ZipArchive::Entry& ZipArchive::entry(const std::string& name) const {
    const auto found = entries_.find(name);
    if (found == entries_.end())
        fail_input(tr("zip_archive.part_missing",
                      "{}: the part {} is missing; the file is damaged, get it again", source_,
                      shown_name(name)));
    return found->second;
}

std::uint64_t ZipArchive::begin_of(const Entry& entry) const {
    if (entry.header > bytes_.size() || bytes_.size() - entry.header < local_bytes)
        fail_damaged();
    const std::string local = bytes_.copy(entry.header, local_bytes);
    const std::uint64_t begin = entry.header + local_bytes + field(local, 26, 2) + field(local, 28, 2);
    if (!local.starts_with("PK\x03\x04") || begin > bytes_.size() ||
        entry.packed_size > bytes_.size() - begin)
        fail_damaged();
    return begin;
}

ZipArchive::Range ZipArchive::range(const std::string& name) const {
    const Entry& found = entry(name);
    if (found.method != 0 || (found.flags & encrypted) != 0)
        fail_input(tr("zip_archive.part_compressed",
                      "{}: the part {} is compressed or encrypted, and torch.save writes neither; unpack the "
                      "archive and pack it again without compression (zip -0)",
                      source_, shown_name(name)));
    if (found.size != found.packed_size)
        fail_damaged();
    return {begin_of(found), found.size};
}

ZipArchive::Place ZipArchive::place(const std::string& name) const {
    const Entry& found = entry(name);
    if ((found.flags & encrypted) != 0)
        fail_input(tr("zip_archive.part_encrypted",
                      "{}: the part {} is encrypted; save the file again without a password", source_,
                      shown_name(name)));
    constexpr std::uint16_t stored = 0, deflated = 8;
    if (found.method != stored && found.method != deflated)
        fail_input(tr("zip_archive.part_other_method",
                      "{}: the part {} is compressed by method {} of ZIP; save the file again with "
                      "numpy.savez or numpy.savez_compressed, which use methods 0 and 8",
                      source_, shown_name(name), found.method));
    // Deflate shrinks by a factor of at most 1032, so a larger size is invented.
    constexpr std::uint64_t largest_factor = 1032, margin = 1024;
    const bool credible =
        found.method == stored
            ? found.size == found.packed_size
            : found.size <= margin || (found.size - margin) / largest_factor <= found.packed_size;
    if (!credible)
        fail_damaged();
    return {{begin_of(found), found.packed_size}, found.size, found.crc, found.method == deflated};
}

} // namespace headscope::format
