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
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
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

std::string python_pair(std::int64_t a, std::int64_t b) {
    return "(" + std::to_string(a) + ", " + std::to_string(b) + ")";
}

} // namespace headscope::graph::ops
