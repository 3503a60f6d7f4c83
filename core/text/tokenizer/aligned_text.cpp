#include "core/text/tokenizer/aligned_text.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/text/tokenizer/unicode.h"

namespace headscope::text {

AlignedText::AlignedText(std::string_view utf8) : bytes_(utf8) {
    if (utf8.size() > most_text_bytes)
        fail_input(tr("aligned_text.text_bytes_most_cut",
                      "the text has {} bytes, and at most {} are allowed; split it into parts", utf8.size(),
                      most_text_bytes));
    spans_.reserve(utf8.size());
    std::int32_t position = 0;
    for (std::size_t at = 0; at < utf8.size(); ++position) {
        const auto letter = code_point_at(utf8, at);
        if (!letter)
            fail_input(tr("aligned_text.text_not_utf_8",
                          "the text is not UTF-8 at byte {}; convert it to UTF-8", at));
        spans_.insert(spans_.end(), letter->size, TextSpan{position, position + 1});
        at += letter->size;
    }
}

TextSpan AlignedText::source(std::size_t begin, std::size_t end) const {
    if (begin < end)
        return {spans_[begin].begin, spans_[end - 1].end};
    if (begin > 0)
        return {spans_[begin - 1].end, spans_[begin - 1].end};
    return {};
}

void AlignedText::reserve(std::size_t bytes) {
    bytes_.reserve(bytes);
    spans_.reserve(bytes);
}

void AlignedText::append(char32_t letter, TextSpan source) {
    append_utf8(bytes_, letter);
    spans_.resize(bytes_.size(), source);
}

void AlignedText::append(std::string_view utf8, TextSpan source) {
    bytes_ += utf8;
    for (std::size_t i = 0; i < utf8.size(); ++i)
        spans_.push_back(source);
}

void AlignedText::append(const AlignedText& other, std::size_t begin, std::size_t end) {
    using Distance = std::ptrdiff_t;
    bytes_.append(other.bytes_, begin, end - begin);
    spans_.insert(spans_.end(), other.spans_.begin() + static_cast<Distance>(begin),
                  other.spans_.begin() + static_cast<Distance>(end));
}

void AlignedText::prepend(std::string_view utf8) {
    if (empty())
        return;
    bytes_.insert(0, utf8);
    spans_.insert(spans_.begin(), utf8.size(), TextSpan(spans_.front()));
}

AlignedText AlignedText::slice(std::size_t begin, std::size_t end) const {
    AlignedText part;
    part.append(*this, begin, end);
    return part;
}

} // namespace headscope::text
