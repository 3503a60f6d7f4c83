#include "core/format/byte_source.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace headscope::format {

ByteSource ByteSource::of_bytes(std::string bytes) {
    ByteSource source;
    source.bytes_ = std::make_shared<const std::string>(std::move(bytes));
    return source;
}

ByteSource ByteSource::of_file(const std::string& path) {
    ByteSource source;
    source.file_ = std::make_shared<const RandomAccessFile>(path);
    return source;
}

void ByteSource::read(std::uint64_t begin, std::span<char> to) const {
    if (begin > size() || to.size() > size() - begin)
        throw Error(ErrorKind::internal, "read beyond the end of a file");
    if (file_ != nullptr)
        file_->read(begin, to);
    else
        std::memcpy(to.data(), bytes_->data() + begin, to.size());
}

std::string ByteSource::copy(std::uint64_t begin, std::uint64_t count) const {
    if (begin > size() || count > size() - begin)
        throw Error(ErrorKind::internal, "read beyond the end of a file");
    std::string bytes(static_cast<std::size_t>(count), '\0');
    read(begin, bytes);
    return bytes;
}

std::uint64_t little_endian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
        value = value << 8U | static_cast<unsigned char>(bytes[i]);
    return value;
}

void refuse_git_lfs_pointer(std::string_view start, const std::string& source) {
    if (start.starts_with("version https://git-lfs"))
        fail_input(tr("safetensors.git_lfs_pointer_not",
                      "{} is a Git LFS pointer, not the file itself; fetch it with git lfs pull", source));
}

std::string shown_name(std::string_view name) {
    constexpr std::size_t most = 120;
    std::size_t end = std::min(name.size(), most);
    // Keeps a character of several bytes whole.
    while (end > 0 && end < name.size() && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U)
        --end;
    std::string shown(name.substr(0, end));
    std::ranges::replace_if(
        shown, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
    return end < name.size() ? shown + "..." : shown;
}

} // namespace headscope::format
