#pragma once

#include <cstddef>

namespace headscope {

/// Whether the row for each value of an enum stands at the value's own place, so that a table can be asked by
/// index. For static_assert beside the table.
template<class Table, class Row, class Enum>
constexpr bool in_order(const Table& table, Enum Row::*value) {
    for (std::size_t at = 0; at < table.size(); ++at)
        if (static_cast<std::size_t>(table[at].*value) != at)
            return false;
    return true;
}

} // namespace headscope
