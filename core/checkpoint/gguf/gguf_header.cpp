#include "core/checkpoint/gguf/gguf_header.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/format/number_text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

namespace headscope::checkpoint {

namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little,
              "the numbers of GGUF files need byte swapping here");

// More is taken for a damaged file. The largest vocabularies take about 20 MB with 1,300,000 values.
constexpr std::uint64_t largest_header = std::uint64_t{1} << 26U;
constexpr std::uint64_t most_values = std::uint64_t{1} << 22U;
constexpr int most_nesting = 8;
constexpr std::uint32_t most_axes = 4;
constexpr std::uint64_t usual_alignment = 32;

enum class ValueType : std::uint32_t {
    uint8,
    int8,
    uint16,
    int16,
    uint32,
    int32,
    float32,
    boolean,
    string,
    array,
    uint64,
    int64,
    float64
};

/// Reads the header from its beginning on, never beyond the end of the file.
class Header {
public:
    Header(const std::function<void(std::uint64_t, std::span<char>)>& read, std::uint64_t size,
           const std::string& source)
        : read_(read), size_(size), end_(std::min(size, largest_header)), source_(source) {}

    std::uint64_t at() const { return at_; }
    const std::string& source() const { return source_; }

    /// `what` names what the bytes belong to.
    template<class Number>
    Number number(const std::string& what) {
        std::array<char, sizeof(Number)> bytes{};
        take(bytes, what);
        return std::bit_cast<Number>(bytes);
    }

    std::string string(const std::string& what) {
        const auto length = number<std::uint64_t>(what);
        require(length, what);
        std::string text(static_cast<std::size_t>(length), '\0');
        take(text, what);
        return text;
    }

    /// Refuses a length that the file does not have any more.
    void require(std::uint64_t bytes, const std::string& what) const {
        if (bytes <= end_ - at_)
            return;
        if (bytes <= size_ - at_)
            fail_input(tr("gguf_header.reaches_beyond_first_bytes",
                          "{}: {} reaches beyond the first {} bytes, more than a header has; the file is "
                          "damaged, get it again",
                          source_, what, largest_header));
        // Translators: the second {} is, for example, "the number of keys" or "key 3".
        fail_input(tr("gguf_header.cut_short_damaged_needs",
                      "{} was cut short or is damaged: {} needs {} bytes, and {} follow; get the file again",
                      source_, what, bytes, size_ - at_));
    }

    /// Refuses a count of things of at least `each` bytes that cannot fit any more. what: "3 keys"
    void require_count(std::uint64_t count, std::uint64_t each, const std::string& what) const {
        if (count > (end_ - at_) / each)
            fail_input(tr("gguf_header.cut_short_damaged_speaks",
                          "{} was cut short or is damaged: it announces {}, which do not fit into the {} "
                          "bytes that follow; get the file again",
                          source_, what, end_ - at_));
    }

private:
    void take(std::span<char> to, const std::string& what) {
        require(to.size(), what);
        for (std::size_t done = 0; done < to.size();) {
            if (at_ < window_begin_ || at_ >= window_begin_ + window_.size())
                fill();
            const auto offset = static_cast<std::size_t>(at_ - window_begin_);
            const std::size_t count = std::min(window_.size() - offset, to.size() - done);
            std::memcpy(to.data() + done, window_.data() + offset, count);
            done += count;
            at_ += count;
        }
    }

    void fill() {
        constexpr std::uint64_t window_size = std::uint64_t{1} << 20U;
        window_begin_ = at_;
        window_.resize(static_cast<std::size_t>(std::min(window_size, end_ - at_)));
        read_(window_begin_, window_);
    }

    const std::function<void(std::uint64_t, std::span<char>)>& read_;
    std::uint64_t size_, end_, at_ = 0;
    std::string source_;
    std::string window_; ///< bytes of the file from window_begin_ on
    std::uint64_t window_begin_ = 0;
};

class ValueReader {
public:
    ValueReader(Header& header, VocabularyLists lists) : header_(header), lists_(lists) {}

    json read(std::uint32_t type, const std::string& key, int depth) {
        switch (static_cast<ValueType>(type)) {
        case ValueType::uint8:
            return integer<std::uint8_t>(key);
        case ValueType::int8:
            return integer<std::int8_t>(key);
        case ValueType::uint16:
            return integer<std::uint16_t>(key);
        case ValueType::int16:
            return integer<std::int16_t>(key);
        case ValueType::uint32:
            return integer<std::uint32_t>(key);
        case ValueType::int32:
            return integer<std::int32_t>(key);
        case ValueType::float32:
            return format::double_of_decimal_text(header_.number<float>(key));
        case ValueType::boolean:
            return boolean(key);
        case ValueType::string:
            return header_.string(key);
        case ValueType::array:
            return array(key, depth);
        case ValueType::uint64:
            return large(header_.number<std::uint64_t>(key));
        case ValueType::int64:
            return integer<std::int64_t>(key);
        case ValueType::float64:
            return header_.number<double>(key);
        }
        fail_input(tr("gguf_header.unknown_type_types_numbered",
                      "{}: {} has the unknown type {}; types are numbered 0 to 12, so the file is damaged or "
                      "newer than this program",
                      header_.source(), key, type));
    }

private:
    template<class Integer>
    std::int64_t integer(const std::string& key) {
        return static_cast<std::int64_t>(header_.number<Integer>(key));
    }

    static json large(std::uint64_t number) {
        constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
        return number > most ? json(static_cast<double>(number)) : json(static_cast<std::int64_t>(number));
    }

    bool boolean(const std::string& key) {
        const auto byte = header_.number<std::uint8_t>(key);
        if (byte > 1)
            fail_input(tr("gguf_header.truth_value_should_0",
                          "{}: {} is the Boolean {}; it should be 0 or 1, so the file is damaged",
                          header_.source(), key, byte));
        return byte == 1;
    }

    json::array_t array(const std::string& key, int depth) {
        if (depth == most_nesting)
            fail_input(
                tr("gguf_header.lists_within_lists_more",
                   "{}: {} has lists that are nested more than {} deep; the file is damaged, get it again",
                   header_.source(), key, most_nesting));
        const auto type = header_.number<std::uint32_t>(key);
        const auto count = header_.number<std::uint64_t>(key);
        header_.require_count(count, least_bytes(type),
                              tr("gguf_header.values", "{} values of {}", count, key));
        values_ += count;
        if (values_ > most_values)
            fail_input(
                tr("gguf_header.lists_up_more_values",
                   "{}: the lists up to {} have more than {} values; the file is damaged, get it again",
                   header_.source(), key, most_values));
        json::array_t list;
        const bool kept = lists_ == VocabularyLists::kept || !is_of_vocabulary(key);
        list.reserve(kept ? static_cast<std::size_t>(count) : 0);
        for (std::uint64_t i = 0; i < count; ++i)
            if (json value = read(type, key, depth + 1); kept)
                list.push_back(std::move(value));
        return list;
    }

    static bool is_of_vocabulary(std::string_view key) {
        constexpr std::array<std::string_view, 4> keys{"tokenizer.ggml.tokens", "tokenizer.ggml.token_type",
                                                       "tokenizer.ggml.scores", "tokenizer.ggml.merges"};
        return std::ranges::find(keys, key) != keys.end();
    }

    /// What a value of the type takes at least. An unknown type is refused when its value is read.
    static std::uint64_t least_bytes(std::uint32_t type) {
        constexpr std::array<std::uint64_t, 13> bytes{1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8};
        return type < bytes.size() ? bytes.at(type) : 1;
    }

    Header& header_;
    VocabularyLists lists_;
    std::uint64_t values_ = 0; ///< in all lists so far
};

void read_magic(Header& header) {
    std::string start(GgufFile::magic.size(), '\0');
    for (char& byte : start)
        byte = header.number<char>(tr("gguf_header.name_format", "the name of the format"));
    if (start != GgufFile::magic)
        fail_input(tr("gguf_header.no_gguf_file_not",
                      "{} is not a GGUF file: it does not begin with GGUF; name another file",
                      header.source()));
    constexpr std::uint32_t low_half = 0xFFFF;
    const auto version =
        header.number<std::uint32_t>(tr("gguf_header.version_format", "the version of the format"));
    if ((version & low_half) == 0)
        fail_input(tr("gguf_header.holds_numbers_highest_byte",
                      "{} holds its numbers with the highest byte first (big-endian), which is not read "
                      "here; get a little-endian file",
                      header.source()));
    if (version != 2 && version != 3)
        fail_input(tr("gguf_header.version_gguf_format_versions",
                      "{} has version {} of the GGUF format; versions 2 and 3 are read here, so convert the "
                      "model again",
                      header.source(), version));
}

json::object_t read_pairs(Header& header, std::uint64_t count, VocabularyLists lists) {
    constexpr std::uint64_t least_pair = 8 + 4 + 1;
    header.require_count(count, least_pair, tr("gguf_header.keys", "{} keys", count));
    ValueReader values(header, lists);
    json::object_t pairs;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::string key = header.string(tr("gguf_header.key", "key {}", i));
        const auto type = header.number<std::uint32_t>(key);
        if (!pairs.emplace(key, values.read(type, key, 0)).second)
            fail_input(tr("gguf_header.key_twice_get_file", "{} has the key {} twice; get the file again",
                          header.source(), key));
    }
    return pairs;
}

/// The bytes that the numbers take; throws for a row that is no whole number of blocks and for sizes beyond
/// 2^63.
std::uint64_t byte_count(const GgufEntry& entry, const std::string& where) {
    const auto block = static_cast<std::int64_t>(entry.type->numbers);
    if (entry.extents.back() % block != 0)
        // Translators: the first {} here and below is "model.gguf: tensor blk.0.attn_q.weight".
        fail_input(tr(
            "gguf_header.type_rows_numbers_should",
            "{} of type {} has rows of {} numbers; they should be a multiple of {}, so the file is damaged",
            where, entry.dtype, entry.extents.back(), block));
    auto bytes = static_cast<std::int64_t>(entry.type->bytes);
    bool overflow = __builtin_mul_overflow(bytes, entry.extents.back() / block, &bytes);
    std::int64_t numbers = entry.extents.back();
    for (std::size_t axis = 0; axis + 1 < entry.extents.size(); ++axis)
        overflow = overflow || __builtin_mul_overflow(bytes, entry.extents[axis], &bytes) ||
                   __builtin_mul_overflow(numbers, entry.extents[axis], &numbers);
    constexpr auto float_bytes = static_cast<std::int64_t>(sizeof(float));
    if (overflow || numbers > std::numeric_limits<std::int64_t>::max() / float_bytes)
        fail_input(tr("gguf_header.more_numbers_any_file",
                      "{} has more numbers than any file can hold; the file is damaged, get it again",
                      where));
    return static_cast<std::uint64_t>(bytes);
}

/// `begin` and `end` are relative to the first tensor as yet.
GgufEntry read_entry(Header& header, std::uint64_t index, std::uint64_t alignment) {
    GgufEntry entry;
    entry.name = header.string(tr("gguf_header.name_tensor", "the name of tensor {}", index));
    const std::string where = tr("common.tensor", "{}: tensor {}", header.source(), entry.name);
    const auto axes = header.number<std::uint32_t>(entry.name);
    if (axes == 0 || axes > most_axes)
        fail_input(tr("gguf_header.axes_should_1_file",
                      "{} has {} axes; it should have 1 to {}, so the file is damaged", where, axes,
                      most_axes));
    for (std::uint32_t axis = 0; axis < axes; ++axis) {
        const auto extent = header.number<std::int64_t>(entry.name);
        if (extent < 1)
            fail_input(tr("gguf_header.extent_should_least_1",
                          "{} has an extent of {}; it should be at least 1, so the file is damaged", where,
                          extent));
        entry.extents.insert(entry.extents.begin(), extent); // the file has the innermost first
    }
    const auto type = header.number<std::uint32_t>(entry.name);
    entry.type = find_gguf_type(type);
    if (entry.type == nullptr)
        fail_input(tr("gguf_header.numbers_not_read_here",
                      "{} has numbers of {}, which are not read here; get a file with {}", where,
                      gguf_type_name(type), gguf_type_names()));
    entry.dtype = entry.type->name;
    entry.begin = header.number<std::uint64_t>(entry.name);
    if (entry.begin % alignment != 0)
        fail_input(tr("gguf_header.begins_byte_should_multiple",
                      "{} begins at byte {}; it should be a multiple of {}, so the file is damaged", where,
                      entry.begin, alignment));
    entry.end = byte_count(entry, where);
    if (__builtin_add_overflow(entry.begin, entry.end, &entry.end))
        fail_input(tr("gguf_header.ends_beyond_every_file",
                      "{} ends beyond the largest possible file; the file is damaged, get it again", where));
    return entry;
}

/// Every tensor lies in the file and no two share a byte.
void place(std::vector<GgufEntry>& entries, std::uint64_t data, std::uint64_t size,
           const std::string& source) {
    const std::uint64_t room = size > data ? size - data : 0;
    std::ranges::sort(entries, {}, &GgufEntry::begin);
    std::uint64_t last_end = 0;
    for (GgufEntry& entry : entries) {
        if (entry.end > room)
            fail_input(tr("gguf_header.cut_short_damaged_tensor",
                          "{} was cut short or is damaged: tensor {} is at bytes {} to {} of {} bytes of "
                          "numbers; get the file again",
                          source, entry.name, entry.begin, entry.end, room));
        if (entry.begin < last_end)
            fail_input(tr("gguf_header.tensor_overlaps_another_one",
                          "{}: tensor {} overlaps another one; get the file again", source, entry.name));
        last_end = entry.end;
        entry.begin += data;
        entry.end += data;
    }
    std::ranges::sort(entries, {}, &GgufEntry::name);
    const auto twice = std::ranges::adjacent_find(entries, {}, &GgufEntry::name);
    if (twice != entries.end())
        fail_input(tr("gguf_header.tensor_twice_get_file", "{} has the tensor {} twice; get the file again",
                      source, twice->name));
}

std::uint64_t read_alignment(const ConfigReader& metadata) {
    constexpr const char* key = "general.alignment";
    const auto given = metadata.integer(key, 1);
    if (given && !std::has_single_bit(static_cast<std::uint64_t>(*given)))
        metadata.refuse(key, tr("gguf_header.power_2", "a power of 2"));
    return given ? static_cast<std::uint64_t>(*given) : usual_alignment;
}

} // namespace

GgufHeader read_gguf_header(const std::function<void(std::uint64_t, std::span<char>)>& read,
                            std::uint64_t size, const std::string& source, VocabularyLists lists) {
    Header header(read, size, source);
    read_magic(header);
    const auto tensors =
        header.number<std::uint64_t>(tr("gguf_header.number_tensors", "the number of tensors"));
    const auto keys = header.number<std::uint64_t>(tr("gguf_header.number_keys", "the number of keys"));
    GgufHeader out;
    out.metadata = std::make_shared<const json>(read_pairs(header, keys, lists));
    const std::uint64_t alignment = read_alignment({*out.metadata, source, QuotedLists::counted});
    constexpr std::uint64_t least_entry = 8 + 4 + 8 + 4 + 8;
    header.require_count(tensors, least_entry, tr("gguf_header.tensors", "{} tensors", tensors));
    for (std::uint64_t i = 0; i < tensors; ++i)
        out.entries.push_back(read_entry(header, i, alignment));
    out.data = (header.at() + alignment - 1) / alignment * alignment;
    place(out.entries, out.data, size, source);
    return out;
}

} // namespace headscope::checkpoint
