#include "core/text/tokenizer/pattern.h"

#include "core/base/message.h"
#include "core/text/tokenizer/unicode.h"

#include <algorithm>
#include <array>
#include <utility>

namespace headscope::text {

namespace {

struct Part {
    ByteRange range;
    bool is_match = false;
};

/// Splits a text into matches and the parts between them, without gaps.
std::vector<Part> cut(std::string_view text, const Pattern& pattern, bool invert) {
    std::vector<Part> parts;
    std::size_t end = 0;
    for (const ByteRange& match : pattern(text)) {
        if (match.begin > end)
            parts.push_back({{end, match.begin}, invert});
        parts.push_back({match, !invert});
        end = match.end;
    }
    if (end < text.size())
        parts.push_back({{end, text.size()}, invert});
    return parts;
}

/// Joins each part to the previous one if `joins(part is a match, previous part is a match)`.
template<class Joins>
std::vector<ByteRange> join(const std::vector<Part>& parts, const Joins& joins) {
    std::vector<ByteRange> ranges;
    bool before = false;
    for (const Part& part : parts) {
        if (!ranges.empty() && joins(part.is_match, before))
            ranges.back() = {std::min(ranges.back().begin, part.range.begin),
                             std::max(ranges.back().end, part.range.end)};
        else
            ranges.push_back(part.range);
        before = part.is_match;
    }
    return ranges;
}

std::vector<ByteRange> ranges_of(std::vector<Part> parts, SplitBehavior behavior) {
    const auto first_of_matches = [](bool match, bool before) { return match && !before; };
    switch (behavior) {
    case SplitBehavior::removed:
        std::erase_if(parts, [](const Part& part) { return part.is_match; });
        break;
    case SplitBehavior::isolated:
        break;
    case SplitBehavior::merged_with_previous:
        return join(parts, first_of_matches);
    case SplitBehavior::merged_with_next: {
        std::ranges::reverse(parts);
        auto ranges = join(parts, first_of_matches);
        std::ranges::reverse(ranges);
        return ranges;
    }
    case SplitBehavior::contiguous:
        return join(parts, [](bool match, bool before) { return match == before; });
    }
    return join(parts, [](bool, bool) { return false; });
}

} // namespace

Pattern code_point_pattern(bool (*fits)(char32_t)) {
    return [fits](std::string_view text) {
        std::vector<ByteRange> found;
        for_each_code_point(text, [&](char32_t letter, std::size_t at, std::size_t size) {
            if (fits(letter))
                found.push_back({at, at + size});
        });
        return found;
    };
}

Pattern literal_pattern(std::string text) {
    return [sought = std::move(text)](std::string_view within) {
        std::vector<ByteRange> found;
        if (sought.empty())
            return found;
        for (std::size_t at = within.find(sought); at != std::string_view::npos;
             at = within.find(sought, at + sought.size()))
            found.push_back({at, at + sought.size()});
        return found;
    };
}

Pattern regex_pattern(Regex regex) {
    return [regex = std::move(regex)](std::string_view text) { return regex.find_all(text); };
}

Pattern read_pattern(const JsonField& field) {
    if (const auto text = field.find("String"))
        return literal_pattern(text->string());
    if (const auto text = field.find("Regex"))
        return regex_pattern(Regex(text->string(), text->path()));
    field.fail(tr("pattern.should_hold_string_regex", "it should hold \"String\" or \"Regex\""));
}

SplitBehavior read_behavior(const JsonField& field) {
    constexpr std::array<std::pair<std::string_view, SplitBehavior>, 5> names{
        {{"Removed", SplitBehavior::removed},
         {"Isolated", SplitBehavior::isolated},
         {"MergedWithPrevious", SplitBehavior::merged_with_previous},
         {"MergedWithNext", SplitBehavior::merged_with_next},
         {"Contiguous", SplitBehavior::contiguous}}};
    const auto* found = std::ranges::find(names, field.string(), [](const auto& pair) { return pair.first; });
    if (found == names.end())
        field.fail(tr("pattern.should_removed_isolated",
                      "it should be Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous"));
    return found->second;
}

std::vector<AlignedText> split(const AlignedText& text, const Pattern& pattern, SplitBehavior behavior,
                               bool invert) {
    std::vector<AlignedText> parts;
    for (const ByteRange& range : ranges_of(cut(text.bytes(), pattern, invert), behavior))
        if (range.begin < range.end)
            parts.push_back(text.slice(range.begin, range.end));
    return parts;
}

} // namespace headscope::text
