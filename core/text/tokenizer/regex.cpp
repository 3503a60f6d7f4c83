#include "core/text/tokenizer/regex.h"

#include "core/base/error.h"
#include "core/text/tokenizer/unicode.h"

#include <algorithm>
#include <array>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace headscope::text {

namespace {

/// Far more steps than any real pattern takes, and still no noticeable time.
constexpr std::uint32_t most_steps = 5'000'000, most_depth = 100'000, most_kibibytes = 64 * 1024;

template<auto release>
struct Release {
    template<class Thing>
    void operator()(Thing* thing) const {
        release(thing);
    }
};

using CompileContext = std::unique_ptr<pcre2_compile_context, Release<pcre2_compile_context_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Release<pcre2_match_context_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Release<pcre2_match_data_free>>;

std::string message_of(int error) {
    std::array<PCRE2_UCHAR, 200> text{};
    pcre2_get_error_message(error, text.data(), text.size());
    return reinterpret_cast<const char*>(text.data());
}

PCRE2_SPTR units(std::string_view text) {
    // PCRE2 takes no null pointer, not even for an empty text.
    return reinterpret_cast<PCRE2_SPTR>(text.data() == nullptr ? "" : text.data());
}

} // namespace

struct Regex::Code {
    std::unique_ptr<pcre2_code, Release<pcre2_code_free>> program;
    MatchContext limits;
};

Regex::Regex(std::string_view pattern, std::string place) : place_(std::move(place)) {
    const std::string translated = oniguruma_to_pcre(pattern, place_);
    const CompileContext context(pcre2_compile_context_create(nullptr));
    pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
    pcre2_set_bsr(context.get(), PCRE2_BSR_UNICODE);
    int error = 0;
    PCRE2_SIZE position = 0;
    const auto code = std::make_shared<Code>();
    // In Ruby's flavour ^ and $ stand for every line; \C would cut characters.
    code->program.reset(pcre2_compile(units(translated), translated.size(),
                                      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C,
                                      &error, &position, context.get()));
    if (!code->program)
        fail_input(place_ + " is no regular expression that can be read: " + message_of(error) + " at byte " +
                   std::to_string(position) + " of " + translated + "; correct it");
    // Without a just-in-time compiler the same program is interpreted.
    pcre2_jit_compile(code->program.get(), PCRE2_JIT_COMPLETE);
    code->limits.reset(pcre2_match_context_create(nullptr));
    pcre2_set_match_limit(code->limits.get(), most_steps);
    pcre2_set_depth_limit(code->limits.get(), most_depth);
    pcre2_set_heap_limit(code->limits.get(), most_kibibytes);
    code_ = code;
}

std::vector<ByteRange> Regex::find_all(std::string_view text) const {
    const MatchData data(pcre2_match_data_create_from_pattern(code_->program.get(), nullptr));
    std::vector<ByteRange> found;
    for (std::size_t at = 0; at <= text.size();) {
        const int count = pcre2_match(code_->program.get(), units(text), text.size(), at, PCRE2_NO_UTF_CHECK,
                                      data.get(), code_->limits.get());
        if (count == PCRE2_ERROR_NOMATCH)
            break;
        if (count < 0)
            fail_input(place_ + " cannot be matched against a text of " + std::to_string(text.size()) +
                       " bytes: " + message_of(count) + "; simplify the pattern or shorten the text");
        const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data.get());
        // \K inside a look-ahead can put the begin behind the end.
        const ByteRange match{std::min(ends[0], ends[1]), ends[1]};
        const bool after_another =
            match.begin == match.end && !found.empty() && found.back().end == match.end;
        if (!after_another && (found.empty() || match.begin >= found.back().end))
            found.push_back(match);
        const std::size_t step = match.end > at ? 0 : letter_at(text, at).value_or(Letter{0, 1}).size;
        at = std::max(match.end, at) + step;
    }
    return found;
}

} // namespace headscope::text
