#include "core/format/npz.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/message.h"
#include "core/base/parse.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

namespace headscope::format {

namespace {

constexpr std::string_view npy_ending = ".npy", zip_begin = "PK\x03\x04", empty_zip_begin = "PK\x05\x06";

bool is_array_name(const std::string& name) {
    return name.ends_with(npy_ending);
}

/// The name of an array in messages.
std::string array_in_file(const std::string& source, const std::string& name) {
    return tr("npz.array", "{}: the array {}", source, shown_name(name));
}

/// Appends a code point as UTF-8; what is not a character becomes U+FFFD.
void append_utf8(std::string& to, std::uint32_t code) {
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
        code = 0xFFFD;
    const auto byte = [&](std::uint32_t value) {
        to += static_cast<char>(static_cast<unsigned char>(value));
    };
    const auto tail = [&](unsigned shift) { byte(0x80U | (code >> shift & 0x3FU)); };
    if (code < 0x80) {
        byte(code);
    } else if (code < 0x800) {
        byte(0xC0U | code >> 6U);
        tail(0);
    } else if (code < 0x10000) {
        byte(0xE0U | code >> 12U);
        tail(6);
        tail(0);
    } else {
        byte(0xF0U | code >> 18U);
        tail(12);
        tail(6);
        tail(0);
    }
}

/// "<U7": 7 code points of 4 bytes each. "|S7": 7 bytes. Zeros at the end do not belong to the text.
struct TextType {
    bool is_unicode = false;
    bool is_big_endian = false;
    std::uint64_t width = 0; ///< bytes of one text
};

std::optional<TextType> text_type(const std::string& descr) {
    const std::size_t kind = descr.find_first_of("US");
    if (kind == std::string::npos || kind > 1)
        return std::nullopt;
    const auto count = number_of<std::uint32_t>(std::string_view(descr).substr(kind + 1));
    if (!count)
        return std::nullopt;
    const bool is_unicode = descr[kind] == 'U';
    return TextType{is_unicode, descr.starts_with('>'), std::uint64_t{*count} * (is_unicode ? 4 : 1)};
}

std::string text_of(std::string_view bytes, const TextType& type) {
    std::string text;
    if (!type.is_unicode) {
        text = bytes;
    } else {
        for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
            std::string code(bytes.substr(at, 4));
            if (type.is_big_endian)
                std::ranges::reverse(code);
            append_utf8(text, static_cast<std::uint32_t>(little_endian(code)));
        }
    }
    text.erase(std::find_if(text.rbegin(), text.rend(), [](char c) { return c != '\0'; }).base(), text.end());
    return text;
}

} // namespace

NpzFile NpzFile::open(const std::string& path) {
    const ByteSource bytes = ByteSource::of_file(path);
    const std::string start = bytes.copy(0, std::min<std::uint64_t>(bytes.size(), zip_begin.size()));
    refuse_git_lfs_pointer(bytes.copy(0, std::min<std::uint64_t>(bytes.size(), 64)), path);
    if (start != zip_begin && start != empty_zip_begin)
        fail_input(tr("npz.not_npz",
                      "{} is not a .npz file: it does not begin as a ZIP archive; write it with numpy.savez",
                      path));
    NpzFile file;
    file.source_ = path;
    const ZipArchive archive(bytes, path);
    std::vector<std::string> names = archive.names();
    std::erase_if(names, [](const std::string& name) { return !is_array_name(name); });
    constexpr std::size_t most_arrays = 1 << 16;
    if (names.size() > most_arrays)
        fail_input(tr("npz.many_arrays",
                      "{} has {} arrays, and up to {} are read; stack the arrays of the layers with "
                      "numpy.stack, or save fewer",
                      path, names.size(), most_arrays));
    for (const std::string& name : names) {
        const std::string array_name = name.substr(0, name.size() - npy_ending.size());
        const std::string shown = array_in_file(path, array_name);
        // Made first: GCC 12 destroys a base twice if the next member of its aggregate throws.
        ZipMember member(bytes, archive.place(name), shown);
        NpzEntry entry{{array_name, "", {}}, std::move(member), {}};
        // A damaged header is always reported: without its array, a file of layers would lack one.
        entry.array =
            read_npy_description(shown, entry.member.size(), [&](std::uint64_t begin, std::span<char> to) {
                entry.member.read(begin, to);
            });
        entry.member.release();
        entry.dtype = entry.array.descr;
        entry.extents = entry.array.extents;
        file.entries_.push_back(std::move(entry));
    }
    std::ranges::sort(file.entries_, {}, &NpzEntry::name);
    return file;
}

std::string NpzFile::name_of(const NpzEntry& entry) const {
    return array_in_file(source_, entry.name);
}

void NpzFile::require_floats(const NpzEntry& entry) const {
    require_npy_floats(entry.array, name_of(entry), entry.member.size());
    entry.member.check();
}

void NpzFile::read_numbers(const NpzEntry& entry, std::uint64_t first, std::span<float> to) const {
    const NpyHeader header = require_npy_floats(entry.array, name_of(entry), entry.member.size());
    const std::uint64_t at = header.data + first * header.type->width;
    if (header.type == &type_of<float>())
        return entry.member.read(at, {reinterpret_cast<char*>(to.data()), to.size_bytes()});
    read_in_pieces(*header.type, to,
                   [&](std::uint64_t from, std::span<char> bytes) { entry.member.read(at + from, bytes); });
}

std::string NpzFile::all_bytes(const NpzEntry& entry, std::uint64_t width) const {
    if (entry.array.is_fortran)
        fail_input(tr("npz.fortran", "{} is stored in Fortran order; save numpy.ascontiguousarray(a)",
                      name_of(entry)));
    std::uint64_t bytes = width;
    bool overflow = false;
    for (const std::int64_t extent : entry.extents)
        overflow = overflow || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes);
    const std::uint64_t there = entry.member.size() - entry.array.data;
    if (overflow || bytes > there || bytes > 64 * mebibyte)
        fail_input(
            tr("npz.too_few_bytes",
               "{} was cut short or is too large for tokens: its shape {} needs more than the {} bytes "
               "that can be read; write the file again",
               name_of(entry), entry.shape_text(), std::min(there, 64 * mebibyte)));
    entry.member.check();
    std::string all(static_cast<std::size_t>(bytes), '\0');
    entry.member.read(entry.array.data, all);
    return all;
}

std::vector<std::int64_t> NpzFile::integers(const NpzEntry& entry) const {
    const NumberType* const type = find_numpy_type(entry.dtype);
    if (type == nullptr || type->read_integers == nullptr)
        fail_input(tr("npz.no_integers",
                      "{} holds numbers of the type {} and should hold integers or bools; save it with dtype "
                      "int64",
                      name_of(entry), entry.dtype.substr(0, 40)));
    std::vector<std::int64_t> numbers;
    type->read_integers(all_bytes(entry, type->width), numbers);
    return numbers;
}

std::vector<std::string> NpzFile::texts(const NpzEntry& entry) const {
    if (entry.dtype.find('O') != std::string::npos)
        fail_input(
            tr("npz.texts_as_objects",
               "{} holds Python objects (a pickle), which can run code and are not read here; save the "
               "tokens as numpy.array(tokens, dtype=str)",
               name_of(entry)));
    const auto type = text_type(entry.dtype);
    if (!type)
        return {};
    std::vector<std::string> texts;
    if (type->width == 0)
        return texts;
    const std::string all = all_bytes(entry, type->width);
    constexpr std::size_t most_texts = std::size_t{1} << 22U;
    if (const std::size_t count = all.size() / type->width; count > most_texts)
        fail_input(tr("npz.many_tokens",
                      "{} holds {} tokens, and up to {} are read; save the tokens of fewer sequences",
                      name_of(entry), count, most_texts));
    for (std::size_t at = 0; at < all.size(); at += type->width)
        texts.push_back(text_of(std::string_view(all).substr(at, type->width), *type));
    return texts;
}

bool is_npz_file(const std::string& path) {
    if (std::error_code none; !std::filesystem::is_regular_file(path, none))
        return false;
    try {
        const ByteSource bytes = ByteSource::of_file(path);
        if (bytes.size() < zip_begin.size() || bytes.copy(0, zip_begin.size()) != zip_begin)
            return false;
        return std::ranges::any_of(ZipArchive(bytes, path).names(), is_array_name);
    } catch (const Error&) {
        return false;
    }
}

} // namespace headscope::format
