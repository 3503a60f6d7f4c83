#pragma once

#include <cstddef>

namespace headscope {

/// Returns true if the row of each enum value is at the index of that value, so that the table can be indexed
/// by the enum. For a static_assert next to the table.
template<class Table, class Row, class Enum>
constexpr bool is_in_enum_order(const Table& table, Enum Row::*value) {
    for (std::size_t at = 0; at < table.size(); ++at)
        if (static_cast<std::size_t>(table[at].*value) != at)
            return false;
    return true;
}

} // namespace headscope
