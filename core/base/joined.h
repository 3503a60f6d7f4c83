#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

namespace headscope {

/// "a, b, c": the elements, or the results of `text_of` for each, which are texts or integers.
template<class Range, class TextOf = std::identity>
std::string joined(Range&& range, const TextOf& text_of = {}, std::string_view separator = ", ") {
    std::string all;
    bool first = true;
    for (auto&& element : range) {
        if (!first)
            all += separator;
        first = false;
        const auto& part = std::invoke(text_of, element);
        if constexpr (std::integral<std::remove_cvref_t<decltype(part)>>)
            all += std::to_string(part);
        else
            all += part;
    }
    return all;
}

} // namespace headscope
