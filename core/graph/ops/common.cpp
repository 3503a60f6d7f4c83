#include "core/graph/ops/common.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <array>
#include <charconv>

namespace headscope::graph::ops {

void expect(const Call& call, std::size_t input, bool fits, const std::string& wanted) {
    if (!fits)
        fail_input(tr("graph.input_axes", "input {} has axes {}; it should have {}", input + 1,
                      call.axes_of(input).text(), wanted));
}

void expect_rank(const Call& call, std::size_t input, int rank) {
    expect(call, input, call.axes_of(input).rank() == rank, tr("graph.number_of_axes", "{} axes", rank));
}

ReadSpan row_of(const Call& call, std::size_t input, const Index& at) {
    const int last = call.axes_of(input).rank() - 1;
    return {input, with(at, last, 0), last, call.axes_of(input).size(last)};
}

Factor factor(const Call& call, std::size_t input, const Index& at) {
    return {.value = call.in[input].at(at), .cell = Cell{input, at}, .symbol = {}};
}

std::string number_text(double value) {
    std::array<char, 32> text{};
    const auto single = static_cast<float>(value);
    char* const first = text.data();
    char* const last = first + text.size();
    const auto [end, error] = static_cast<double>(single) == value ? std::to_chars(first, last, single)
                                                                   : std::to_chars(first, last, value);
    return error == std::errc() ? std::string(text.data(), end) : std::to_string(value);
}

std::string rounded_text(double value) {
    constexpr int digits = 4;
    std::array<char, 32> text{};
    const auto [end, error] =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, digits);
    return error == std::errc() ? std::string(text.data(), end) : std::to_string(value);
}

std::string python_repeated(const Axes& from, const Axes& to) {
    std::string index;
    bool added = false;
    int next = 0;
    for (const Axis& axis : to) {
        const bool has = next < from.rank() && from[next].name == axis.name;
        added = added || !has;
        index += (index.empty() ? "" : ", ") + std::string(has ? ":" : "None");
        next += has ? 1 : 0;
    }
    return added ? "[" + index + "]" : "";
}

std::string python_pair(const Axis& a, const Axis& b) {
    return "(" + a.name + ", " + b.name + ")";
}

std::string python_shared_heads(const Axes& all_heads, const Axes& heads) {
    return all_heads.size(1) == heads.size(1)
               ? ""
               : ".repeat_interleave(" + all_heads[1].name + " // " + heads[1].name + ", dim=1)";
}

std::string python_sharing_comment(const Axes& all_heads, const Axes& heads) {
    if (all_heads.size(1) == heads.size(1))
        return "";
    return heads.size(1) == 1
               ? "# Multi-query attention (Shazeer 2019): all query heads share one key/value head.\n"
               : "# Grouped-query attention (Ainslie et al. 2023): H / Hkv query heads share a key/value "
                 "head.\n";
}

} // namespace headscope::graph::ops
