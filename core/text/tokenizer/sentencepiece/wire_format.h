#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headscope::text {

/// Reads the fields of one protobuf message in the order of the file (the wire format of protobuf's
/// documentation). All readers throw Error(input) with the file's name and the byte.
class MessageReader {
public:
    /// `bytes` and `file` must outlive the reader. `start`: the place of the message in the file.
    MessageReader(std::string_view bytes, const std::string& file, std::size_t start = 0)
        : bytes_(bytes), file_(&file), start_(start) {}

    /// Moves to the next field; returns false at the end of the message.
    bool next();
    /// The number of the current field.
    std::uint64_t field() const { return field_; }

    // The value of the current field, which must have the wire type of its reader.
    std::string_view text() const; ///< a string, bytes or a message
    MessageReader message() const { return {text(), *file_, start_ + value_at_}; }
    std::int64_t integer() const;
    bool flag() const { return integer() != 0; }
    float number() const;

private:
    enum class Wire : std::uint8_t { integer = 0, eight_bytes = 1, text = 2, four_bytes = 5 };

    std::uint64_t read_integer();
    void require(Wire wire) const;
    [[noreturn]] void refuse(const std::string& reason) const;

    std::string_view bytes_;
    const std::string* file_;
    std::size_t start_ = 0;
    std::size_t at_ = 0;       ///< the end of the current field
    std::size_t field_at_ = 0; ///< its beginning
    std::size_t value_at_ = 0; ///< the beginning of its text
    std::uint64_t field_ = 0;
    Wire wire_ = Wire::integer;
    std::uint64_t value_ = 0; ///< an integer, or the bits of a number
    std::string_view text_;
};

} // namespace headscope::text
