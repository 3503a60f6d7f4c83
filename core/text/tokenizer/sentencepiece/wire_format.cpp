#include "core/text/tokenizer/sentencepiece/wire_format.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <bit>

namespace headscope::text {

void MessageReader::refuse(const std::string& reason) const {
    fail_input(tr("wire_format.damaged",
                  "{} is not a SentencePiece model, or it is damaged: {}; get the file again", *file_,
                  reason));
}

/// A varint: seven bits per byte, the lowest first; the last byte is less than 128.
std::uint64_t MessageReader::read_integer() {
    std::uint64_t value = 0;
    constexpr unsigned bits = 64;
    for (unsigned shift = 0; shift < bits; shift += 7) {
        if (at_ == bytes_.size())
            refuse(tr("wire_format.ends_inside", "it ends inside a field at byte {}", start_ + at_));
        const auto byte = static_cast<unsigned char>(bytes_[at_++]);
        value |= std::uint64_t{byte & 0x7FU} << shift;
        if (byte < 0x80U)
            return value;
    }
    refuse(
        tr("wire_format.integer_too_long", "the integer before byte {} has more than 64 bits", start_ + at_));
}

bool MessageReader::next() {
    if (at_ == bytes_.size())
        return false;
    field_at_ = at_;
    const std::uint64_t key = read_integer();
    field_ = key >> 3U;
    const auto wire = static_cast<unsigned>(key & 7U);
    if (field_ == 0 || wire == 3 || wire == 4 || wire > 5)
        refuse(tr("wire_format.unknown_kind", "field {} at byte {} has the unknown wire type {}", field_,
                  start_ + field_at_, wire));
    wire_ = static_cast<Wire>(wire);
    if (wire_ == Wire::integer) {
        value_ = read_integer();
        return true;
    }
    const std::uint64_t size = wire_ == Wire::text ? read_integer() : wire_ == Wire::four_bytes ? 4 : 8;
    if (size > bytes_.size() - at_)
        refuse(tr("wire_format.beyond_end", "field {} at byte {} has {} bytes, and only {} follow", field_,
                  start_ + field_at_, size, bytes_.size() - at_));
    value_at_ = at_;
    text_ = bytes_.substr(at_, size);
    at_ += size;
    return true;
}

void MessageReader::require(Wire wire) const {
    if (wire_ != wire)
        refuse(tr("wire_format.wrong_type", "field {} at byte {} has wire type {}, not {}", field_,
                  start_ + field_at_, static_cast<int>(wire_), static_cast<int>(wire)));
}

std::string_view MessageReader::text() const {
    require(Wire::text);
    return text_;
}

std::int64_t MessageReader::integer() const {
    require(Wire::integer);
    return static_cast<std::int64_t>(value_);
}

float MessageReader::number() const {
    require(Wire::four_bytes);
    std::uint32_t bits = 0;
    for (std::size_t i = text_.size(); i-- > 0;)
        bits = bits << 8U | static_cast<unsigned char>(text_[i]);
    return std::bit_cast<float>(bits);
}

} // namespace headscope::text
