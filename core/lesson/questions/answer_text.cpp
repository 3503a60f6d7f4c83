#include "core/lesson/questions/answer_text.h"

#include "core/base/parse.h"

#include <cmath>
#include <optional>

namespace headscope::lesson {

namespace {

constexpr std::string_view blanks = " \t\n";

std::optional<double> finite(std::string_view text) {
    const auto number = number_of<double>(text);
    return number && std::isfinite(*number) ? number : std::nullopt;
}

} // namespace

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

std::vector<std::string> parts_of(std::string_view text, char separator) {
    std::vector<std::string> parts;
    for (;;) {
        const auto end = text.find(separator);
        parts.emplace_back(trimmed(text.substr(0, end), blanks));
        if (end == std::string_view::npos)
            return parts;
        text.remove_prefix(end + 1);
    }
}

/// The values that a typed number can mean: "1,024" is 1024 in English and 1.024 in German.
std::vector<double> numbers_meant(const std::string& typed) {
    std::string text = replace_all(replace_all(typed, "−", "-"), " ", "");
    const bool percent = text.ends_with('%');
    if (percent)
        text.pop_back();
    std::vector<double> found;
    if (const auto slash = text.find('/'); slash != std::string::npos) {
        const auto above = finite(std::string_view(text).substr(0, slash)),
                   below = finite(std::string_view(text).substr(slash + 1));
        if (above && below && *below != 0)
            found.push_back(*above / *below);
    } else {
        for (const std::string& reading : {replace_all(text, ",", "."), replace_all(text, ",", "")})
            if (const auto number = finite(reading))
                found.push_back(*number);
    }
    for (double& number : found)
        number /= percent ? 100 : 1;
    return found;
}

/// The sizes in a typed shape; empty if it is malformed.
std::vector<std::int64_t> sizes_in(const std::string& typed) {
    std::string text = typed;
    for (const std::string_view sign : {"×", "x", "X", "*"})
        text = replace_all(text, sign, ",");
    for (const std::string_view sign : {"(", ")", "[", "]"})
        text = replace_all(text, sign, "");
    std::vector<std::int64_t> sizes;
    for (const std::string& part : parts_of(text, ',')) {
        const auto size = number_of<std::int64_t>(part);
        if (!size)
            return {};
        sizes.push_back(*size);
    }
    return sizes;
}

std::string cell_answer(TensorId tensor, const Index& at) {
    const TensorInfo& info = tensor_info(tensor);
    Target target{.tensor = tensor, .indices = {}};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(info.rank()); ++axis)
        if (info.axes[axis] != Axis::B)
            target.indices.push_back(
                {.kind = TargetIndex::Kind::number, .first = at[axis], .end = at[axis] + 1, .word = {}});
    return target_text(target);
}

std::vector<std::string> cell_answers(const CellRange& cells) {
    std::vector<std::string> answers;
    for (std::int64_t n = 0; n < cells.size(); ++n) {
        Index at = cells.first;
        std::int64_t rest = n;
        for (int axis = tensor_info(cells.tensor).rank() - 1; axis >= 0; --axis) {
            const auto a = static_cast<std::size_t>(axis);
            at[a] += rest % cells.count[a];
            rest /= cells.count[a];
        }
        answers.push_back(cell_answer(cells.tensor, at));
    }
    return answers;
}

std::vector<std::size_t> numbers_in(const std::string& answer) {
    std::vector<std::size_t> numbers;
    for (const std::string& part : parts_of(answer, ',')) {
        const auto number = number_of<std::size_t>(part);
        if (!number || *number == 0)
            return {};
        numbers.push_back(*number - 1);
    }
    return numbers;
}

} // namespace headscope::lesson
