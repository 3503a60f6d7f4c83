#include "core/base/error.h"
#include "core/text/preset.h"
#include "core/text/random_numbers.h"
#include "core/text/words.h"
#include "tests/catch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

using namespace headscope;
using namespace headscope::text;

namespace {

std::string encoded(std::uint32_t c) {
    std::string out;
    if (c < 0x80)
        return {static_cast<char>(c)};
    const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static constexpr std::uint32_t leads[] = {0, 0xC0, 0xE0, 0xF0};
    out += static_cast<char>(leads[more] | (c >> (6 * more)));
    for (int i = more - 1; i >= 0; --i)
        out += static_cast<char>(0x80 | ((c >> (6 * i)) & 0x3F));
    return out;
}

/// Code points from all over Unicode, more often from where text has rules of its own.
std::string unicode_text(RandomNumbers& numbers) {
    static constexpr std::array<std::array<std::uint32_t, 2>, 10> blocks = {{{0x00, 0x7F},
                                                                             {0x80, 0x24F},
                                                                             {0x300, 0x36F},
                                                                             {0x590, 0x6FF},
                                                                             {0x900, 0x97F},
                                                                             {0x2000, 0x206F},
                                                                             {0x3000, 0x30FF},
                                                                             {0x1F1E6, 0x1F6FF},
                                                                             {0xE000, 0x10FFFF},
                                                                             {0x00, 0xD7FF}}};
    std::string out;
    for (std::uint64_t left = numbers.next() % 40; left > 0; --left) {
        const auto& [first, last] = blocks[numbers.next() % blocks.size()];
        out += encoded(first + static_cast<std::uint32_t>(numbers.next() % (last - first + 1)));
    }
    return out;
}

std::string bytes(RandomNumbers& numbers) {
    std::string out(numbers.next() % 40, ' ');
    std::ranges::generate(out, [&] { return static_cast<char>(numbers.next() & 255U); });
    return out;
}

/// A problem that holds together, or a refusal of the input; nothing else.
bool accepted(const std::string& text) {
    try {
        std::size_t end = 0;
        for (const Word& word : split_words(text)) {
            CHECK(word.begin >= end);
            CHECK(word.end > word.begin);
            CHECK_FALSE(word.text.empty());
            end = word.end;
        }
        CHECK(end <= text.size());
        for (const char* id : {"first-lesson", "eight-experts", "random"}) {
            const Problem problem = build_preset(id, text).problem;
            CHECK(problem.x->shape() == Shape{1, std::ssize(problem.tokens), problem.dims.D});
            CHECK(std::ranges::all_of(problem.x->values(), [](float v) { return std::isfinite(v); }));
        }
        return true;
    } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::input);
        return false;
    }
}

} // namespace

TEST_CASE("random bytes and random Unicode give a problem or a refusal") {
    RandomNumbers numbers(20);
    int good = 0;
    for (int i = 0; i < 1000; ++i) {
        accepted(bytes(numbers));
        good += accepted(unicode_text(numbers)) ? 1 : 0;
    }
    CHECK(good > 900);
}

TEST_CASE("splitting the words of a sentence again changes nothing") {
    RandomNumbers numbers(21);
    for (int i = 0; i < 500; ++i) {
        const std::string text = unicode_text(numbers) + " end";
        for (const Word& word : split_words(text)) {
            INFO(word.text);
            const auto again = split_words(word.text);
            CHECK(again.size() == 1);
            CHECK(again[0].text == word.text);
            CHECK(again[0].punctuation == word.punctuation);
        }
    }
}
