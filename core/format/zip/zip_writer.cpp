#include "core/format/zip/zip_writer.h"

#include "core/base/error.h"

#include <utility>
#include <zlib.h>

namespace headscope::format {

namespace {

constexpr std::uint64_t moved_16 = 0xFFFF, moved_32 = 0xFFFFFFFF; ///< "see the zip64 record"
constexpr std::uint16_t crc_follows = 1U << 3U, utf8_name = 1U << 11U;
constexpr std::uint64_t plain_version = 20, zip64_version = 45;
constexpr std::uint64_t first_date = 1U << 5U | 1U; ///< 1980-01-01 in MS-DOS format

void append_field(std::string& to, std::uint64_t value, int bytes) {
    for (int byte = 0; byte < bytes; ++byte)
        to += static_cast<char>(static_cast<unsigned char>(value >> 8 * byte & 0xFFU));
}

bool is_large(std::uint64_t value) {
    return value >= moved_32;
}

std::uint64_t field_32(std::uint64_t value) {
    return is_large(value) ? moved_32 : value;
}

std::uint32_t checksum(std::uint32_t crc, std::string_view bytes) {
    return static_cast<std::uint32_t>(
        crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

} // namespace

void ZipWriter::put(const std::string& bytes) {
    sink_(bytes);
    at_ += bytes.size();
}

void ZipWriter::add(const std::string& name, std::uint64_t size, const MakeBytes& make, bool once) {
    Entry entry{name, size, at_, 0, static_cast<std::uint16_t>(utf8_name | (once ? crc_follows : 0U))};
    if (!once)
        make([&](std::string_view bytes) { entry.crc = checksum(entry.crc, bytes); });
    const bool large = is_large(size);
    std::string header = "PK\x03\x04";
    append_field(header, large ? zip64_version : plain_version, 2);
    append_field(header, entry.flags, 2);
    append_field(header, 0, 2); // stored
    append_field(header, 0, 2); // midnight
    append_field(header, first_date, 2);
    append_field(header, entry.crc, 4);
    const std::uint64_t known = once ? 0 : size;
    append_field(header, large ? moved_32 : known, 4);
    append_field(header, large ? moved_32 : known, 4);
    append_field(header, name.size(), 2);
    append_field(header, large ? 20 : 0, 2);
    header += name;
    if (large) {
        append_field(header, 1, 2);
        append_field(header, 16, 2);
        append_field(header, known, 8);
        append_field(header, known, 8);
    }
    put(header);
    std::uint64_t made = 0;
    std::uint32_t crc = 0;
    make([&](std::string_view bytes) {
        made += bytes.size();
        crc = checksum(crc, bytes);
        sink_(bytes);
    });
    if (made != size)
        throw Error(ErrorKind::internal,
                    "the file " + name + " of an archive has another size than announced");
    at_ += made;
    entry.crc = crc;
    if (once) {
        std::string after = "PK\x07\x08";
        append_field(after, crc, 4);
        append_field(after, size, large ? 8 : 4);
        append_field(after, size, large ? 8 : 4);
        put(after);
    }
    entries_.push_back(std::move(entry));
}

void ZipWriter::finish() {
    const std::uint64_t begin = at_;
    for (const Entry& entry : entries_) {
        std::string extra;
        if (is_large(entry.size)) {
            append_field(extra, entry.size, 8);
            append_field(extra, entry.size, 8);
        }
        if (is_large(entry.header))
            append_field(extra, entry.header, 8);
        const std::uint64_t version = extra.empty() ? plain_version : zip64_version;
        std::string row = "PK\x01\x02";
        append_field(row, version, 2);
        append_field(row, version, 2);
        append_field(row, entry.flags, 2);
        append_field(row, 0, 2);
        append_field(row, 0, 2);
        append_field(row, first_date, 2);
        append_field(row, entry.crc, 4);
        append_field(row, field_32(entry.size), 4);
        append_field(row, field_32(entry.size), 4);
        append_field(row, entry.name.size(), 2);
        append_field(row, extra.empty() ? 0 : extra.size() + 4, 2);
        append_field(row, 0, 2); // comment
        append_field(row, 0, 2); // disk
        append_field(row, 0, 2); // internal attributes
        append_field(row, 0, 4); // external attributes
        append_field(row, field_32(entry.header), 4);
        row += entry.name;
        if (!extra.empty()) {
            append_field(row, 1, 2);
            append_field(row, extra.size(), 2);
            row += extra;
        }
        put(row);
    }
    const std::uint64_t size = at_ - begin, count = entries_.size();
    if (is_large(begin) || is_large(size) || count >= moved_16) {
        const std::uint64_t record = at_;
        std::string end64 = "PK\x06\x06";
        append_field(end64, 44, 8); // bytes that follow this field
        append_field(end64, zip64_version, 2);
        append_field(end64, zip64_version, 2);
        append_field(end64, 0, 4);
        append_field(end64, 0, 4);
        append_field(end64, count, 8);
        append_field(end64, count, 8);
        append_field(end64, size, 8);
        append_field(end64, begin, 8);
        end64 += "PK\x06\x07";
        append_field(end64, 0, 4);
        append_field(end64, record, 8);
        append_field(end64, 1, 4);
        put(end64);
    }
    std::string end = "PK\x05\x06";
    append_field(end, 0, 2);
    append_field(end, 0, 2);
    append_field(end, count >= moved_16 ? moved_16 : count, 2);
    append_field(end, count >= moved_16 ? moved_16 : count, 2);
    append_field(end, field_32(size), 4);
    append_field(end, field_32(begin), 4);
    append_field(end, 0, 2);
    put(end);
}

} // namespace headscope::format
