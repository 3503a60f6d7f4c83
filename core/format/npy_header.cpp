#include "core/format/npy_header.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/tensor/shape.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace headscope::format {

namespace {

constexpr std::size_t before_length = npy_magic.size() + 2; ///< the version follows the magic
constexpr std::uint64_t largest_npy_header = 1U << 20U;     ///< those of NumPy have about 100 bytes

/// Parses the Python literal of a header: a dict of strings, True or False, and a tuple of integers.
class Literal {
public:
    Literal(std::string_view text, const std::string& path) : text_(text), path_(path) {}

    struct Fields {
        std::optional<std::string> descr;
        std::optional<bool> fortran;
        std::optional<std::vector<std::int64_t>> shape;
    };

    Fields read() {
        Fields fields;
        need('{');
        while (!take('}')) {
            const std::string key = quoted();
            need(':');
            if (key == "descr")
                fields.descr = descr();
            else if (key == "fortran_order")
                fields.fortran = truth();
            else if (key == "shape")
                fields.shape = shape();
            else
                damaged();
            if (!take(',')) {
                need('}');
                break;
            }
        }
        skip_blank();
        if (at_ != text_.size())
            damaged();
        return fields;
    }

private:
    [[noreturn]] void damaged() const {
        fail_input(tr("npy_header.damaged_npy_header_write",
                      "{} has a damaged .npy header; write the file again with numpy.save", path_));
    }
    void skip_blank() { at_ = std::min(text_.find_first_not_of(" \t\n\r", at_), text_.size()); }
    bool take(char wanted) {
        skip_blank();
        const bool there = at_ < text_.size() && text_[at_] == wanted;
        at_ += there ? 1 : 0;
        return there;
    }
    void need(char wanted) {
        if (!take(wanted))
            damaged();
    }
    std::string quoted() {
        skip_blank();
        const char quote = at_ < text_.size() ? text_[at_] : '\0';
        if (quote != '\'' && quote != '"')
            damaged();
        const auto end = text_.find(quote, at_ + 1);
        if (end == std::string_view::npos)
            damaged();
        std::string out(text_.substr(at_ + 1, end - at_ - 1));
        at_ = end + 1;
        return out;
    }
    /// Reads the dtype. A list describes an array of records; its fields are skipped.
    std::string descr() {
        skip_blank();
        if (at_ == text_.size() || text_[at_] != '[')
            return quoted();
        int open_lists = 0;
        do {
            skip_blank();
            if (at_ == text_.size())
                damaged();
            const char next = text_[at_];
            if (next == '\'' || next == '"') {
                quoted();
                continue;
            }
            open_lists += next == '[' ? 1 : next == ']' ? -1 : 0;
            ++at_;
        } while (open_lists > 0);
        return std::string(npy_records);
    }
    bool truth() {
        skip_blank();
        for (const auto& [word, value] : {std::pair{std::string_view("True"), true}, {"False", false}})
            if (text_.substr(at_).starts_with(word)) {
                at_ += word.size();
                return value;
            }
        damaged();
    }
    std::vector<std::int64_t> shape() {
        std::vector<std::int64_t> out;
        need('(');
        while (!take(')')) {
            skip_blank();
            std::int64_t extent = 0;
            const char* const end = text_.data() + text_.size();
            const auto [stop, fault] = std::from_chars(text_.data() + at_, end, extent);
            if (fault != std::errc() || extent < 0)
                damaged();
            at_ = static_cast<std::size_t>(stop - text_.data());
            take('L'); // Python 2 appended an L to long numbers
            out.push_back(extent);
            if (!take(',')) {
                need(')');
                break;
            }
        }
        return out;
    }

    std::string_view text_;
    const std::string& path_;
    std::size_t at_ = 0;
};

const NumberType& float_type_of(const std::string& descr, const std::string& path) {
    if (const NumberType* const type = find_numpy_type(descr);
        type != nullptr && type->read_floats != nullptr)
        return *type;
    if (descr == npy_records)
        fail_input(tr("npy_header.holds_records_named_fields",
                      "{} holds records with named fields; save one field alone, for example "
                      "numpy.save(path, a[\"weights\"])",
                      path));
    if (descr.find('O') != std::string::npos)
        fail_input(tr("npy_header.holds_python_objects_pickle",
                      "{} holds Python objects (a pickle), which can run code and are not read here; save an "
                      "array of numbers: numpy.save(path, numpy.stack(list_of_arrays))",
                      path));
    if (descr.starts_with(">f"))
        fail_input(tr("npy_header.holds_big_endian_numbers",
                      "{} holds big-endian numbers; save it again with numpy.save(path, a.astype(\"<f4\"))",
                      path));
    fail_input(tr("npy_header.holds_numbers_type_attention",
                  "{} holds numbers of the type {}; attention weights are floats: save them with "
                  "numpy.save(path, a.astype(\"float32\"))",
                  path, descr.substr(0, 40)));
}

void check_size(const NpyHeader& header, const std::string& name, std::uint64_t size) {
    auto bytes = static_cast<std::int64_t>(header.type->width);
    bool overflow = false;
    for (const std::int64_t extent : header.extents)
        overflow = overflow || __builtin_mul_overflow(bytes, std::max<std::int64_t>(extent, 1), &bytes);
    const bool empty = std::ranges::find(header.extents, 0) != header.extents.end();
    const auto wanted = empty ? 0 : static_cast<std::uint64_t>(bytes);
    const std::uint64_t there = size - header.data;
    if (!overflow && wanted <= there)
        return;
    const std::string shape = extents_text(header.extents);
    fail_input(
        overflow
            ? tr("npy_header.cut_short_shape_needs",
                 "{} was cut short: shape {} of {} needs more bytes, and {} are there; write or copy it "
                 "again",
                 name, shape, header.type->name, there)
            : tr("npy_header.cut_short_shape_needs_2",
                 "{} was cut short: shape {} of {} needs {} bytes, and {} are there; write or copy it again",
                 name, shape, header.type->name, wanted, there));
}

void refuse_what_is_not_npy(std::string_view start, const std::string& path) {
    if (start.starts_with("PK\x03\x04"))
        fail_input(tr("npy_header.zip_archive_npz_pt",
                      "{} is a zip archive (.npz, .pt), not .npy; save one array alone with numpy.save",
                      path));
    if (start.starts_with("\x80"))
        fail_input(tr("npy_header.python_pickle_run_code",
                      "{} is a Python pickle, which can run code and is not read here; save an array of "
                      "numbers with numpy.save",
                      path));
    if (!start.starts_with(npy_magic))
        fail_input(tr("npy_header.no_npy_file_not",
                      "{} is not a .npy file: it does not begin as one; write it with numpy.save", path));
}

} // namespace

NpyDescription read_npy_description(const std::string& name, std::uint64_t size, const ReadBytes& read) {
    std::string start(std::min<std::uint64_t>(size, before_length + 4), '\0');
    read(0, start);
    refuse_what_is_not_npy(start, name);
    if (start.size() < before_length + 4)
        fail_input(tr_n("npy_header.byte_too_few_npy",
                        "{} has {} byte, too few for a .npy file; write or copy it again",
                        "{} has {} bytes, too few for a .npy file; write or copy it again",
                        static_cast<std::int64_t>(size), name, size));
    const int version = static_cast<unsigned char>(start[npy_magic.size()]);
    if (version < 1 || version > 3)
        fail_input(
            tr("npy_header.npy_file_version_versions",
               "{} is a .npy file of version {}; versions 1 to 3 are read: write it again with numpy.save",
               name, version));
    const std::size_t length_bytes = version == 1 ? 2 : 4;
    std::uint64_t length = 0;
    for (std::size_t i = length_bytes; i-- > 0;)
        length = length << 8U | static_cast<unsigned char>(start[before_length + i]);
    NpyDescription array;
    array.data = before_length + length_bytes + length;
    if (length > largest_npy_header || array.data > size)
        fail_input(tr("npy_header.cut_short_damaged_speaks",
                      "{} was cut short or is damaged: it announces a header of {} bytes and has {} after "
                      "its beginning; write or copy it again",
                      name, length, size - before_length - length_bytes));
    std::string text(length, '\0');
    read(before_length + length_bytes, text);

    const Literal::Fields fields = Literal(text, name).read();
    if (!fields.descr || !fields.fortran || !fields.shape)
        fail_input(tr("npy_header.npy_header_without_type",
                      "{} has a .npy header without type, order or shape; write it again with numpy.save",
                      name));
    array.descr = *fields.descr;
    array.extents = *fields.shape;
    array.is_fortran = *fields.fortran && array.extents.size() > 1;
    return array;
}

NpyHeader require_npy_floats(const NpyDescription& array, const std::string& name, std::uint64_t size) {
    const NpyHeader header{&float_type_of(array.descr, name), array.extents, array.data};
    if (array.is_fortran)
        fail_input(tr("npy_header.stored_fortran_order_numbers",
                      "{} is stored in Fortran order, in which the numbers of one head are scattered; save "
                      "it again with numpy.save(path, numpy.ascontiguousarray(a))",
                      name));
    check_size(header, name, size);
    return header;
}

NpyHeader read_npy_header(const RandomAccessFile& file) {
    const NpyDescription array = read_npy_description(
        file.path(), file.size(), [&](std::uint64_t begin, std::span<char> to) { file.read(begin, to); });
    return require_npy_floats(array, file.path(), file.size());
}

} // namespace headscope::format
