#include "core/text/tokenizer/regex.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/text/plain_text.h"
#include "core/text/tokenizer/unicode.h"

#include <algorithm>
#include <array>
#include <limits>
#include <oniguruma.h>

namespace headscope::text {

namespace {

/// Limits far beyond any real pattern: backtracking steps from one position of a text, and until the next
/// match (about 0.1 and 1 second), and stack entries, of 40 bytes each. Each byte of a word raises all of
/// them.
constexpr std::size_t most_steps = 5'000'000, most_steps_to_match = 50'000'000, most_entries = 1'000'000,
                      more_for_each_byte = 4;

/// Nesting of brackets. Oniguruma parses and compiles them recursively.
constexpr unsigned most_levels = 250;

template<auto release>
struct Release {
    template<class Thing>
    void operator()(Thing* thing) const {
        release(thing);
    }
};

void free_region(OnigRegion* region) {
    onig_region_free(region, 1);
}

using Limits = std::unique_ptr<OnigMatchParam, Release<onig_free_match_param>>;
using Region = std::unique_ptr<OnigRegion, Release<free_region>>;

/// Oniguruma fills its own tables before its first use, which must happen on a single thread.
void start_library() {
    static const bool started = [] {
        OnigEncoding encoding = ONIG_ENCODING_UTF8;
        onig_initialize(&encoding, 1);
        onig_set_subexp_call_limit_in_search(most_steps);
        onig_set_parse_depth_limit(most_levels);
        return true;
    }();
    static_cast<void>(started);
}

Limits limits_for(std::size_t bytes) {
    Limits limits(onig_new_match_param());
    onig_initialize_match_param(limits.get());
    const std::size_t more = more_for_each_byte * bytes;
    const std::size_t entries =
        std::min<std::size_t>(most_entries + more, std::numeric_limits<unsigned>::max());
    onig_set_match_stack_limit_size_of_match_param(limits.get(), static_cast<unsigned>(entries));
    onig_set_retry_limit_in_match_of_match_param(limits.get(), most_steps + more);
    onig_set_retry_limit_in_search_of_match_param(limits.get(), most_steps_to_match + more);
    return limits;
}

std::string message_of(int error, OnigErrorInfo* info) {
    std::array<OnigUChar, ONIG_MAX_ERROR_MESSAGE_LEN> text{};
    const int size = onig_error_code_to_str(text.data(), error, info);
    return {reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(size)};
}

const OnigUChar* units(std::string_view text) {
    // Oniguruma does not accept a null pointer, even for an empty text.
    return reinterpret_cast<const OnigUChar*>(text.data() == nullptr ? "" : text.data());
}

} // namespace

struct Regex::Code {
    std::unique_ptr<OnigRegexType, Release<onig_free>> program;
};

Regex::Regex(std::string_view pattern, std::string place) : place_(std::move(place)) {
    start_library();
    OnigRegex program = nullptr;
    OnigErrorInfo info{};
    const OnigUChar* const begin = units(pattern);
    const int error = onig_new(&program, begin, begin + pattern.size(), ONIG_OPTION_NONE, ONIG_ENCODING_UTF8,
                               ONIG_SYNTAX_ONIGURUMA, &info);
    if (error != ONIG_NORMAL)
        // Translators: the second {} is what the library for such expressions says, in English.
        fail_input(tr("regex.no_regular_expression_read",
                      "{} is not a valid regular expression: {} in {}; correct it", place_,
                      message_of(error, &info), plain_excerpt(pattern)));
    const auto code = std::make_shared<Code>();
    code->program.reset(program);
    code_ = code;
}

std::vector<ByteRange> Regex::find_all(std::string_view text) const {
    const Limits limits = limits_for(text.size());
    const Region region(onig_region_new());
    const OnigUChar* const begin = units(text);
    const OnigUChar* const end = begin + text.size();
    std::vector<ByteRange> found;
    for (std::size_t at = 0; at <= text.size();) {
        const int result = onig_search_with_param(code_->program.get(), begin, end, begin + at, end,
                                                  region.get(), ONIG_OPTION_NONE, limits.get());
        if (result == ONIG_MISMATCH)
            break;
        if (result < 0)
            fail_input(tr("regex.cannot_matched_against_text",
                          "{} cannot be matched against a text of {} bytes: {}; simplify the pattern or "
                          "shorten the text",
                          place_, text.size(), message_of(result, nullptr)));
        const auto last = static_cast<std::size_t>(region->end[0]);
        // \K inside a look-ahead can put the begin after the end.
        const ByteRange match{std::min(static_cast<std::size_t>(region->beg[0]), last), last};
        const bool after_another =
            match.begin == match.end && !found.empty() && found.back().end == match.end;
        if (!after_another && (found.empty() || match.begin >= found.back().end))
            found.push_back(match);
        const std::size_t step = match.end > at ? 0 : code_point_at(text, at).value_or(CodePoint{0, 1}).size;
        at = std::max(match.end, at) + step;
    }
    return found;
}

} // namespace headscope::text
