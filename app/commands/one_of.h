#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

namespace headscope::app {

template<class List>
class OneOf;

/// True if an alternative can hold a T: it is T, or a OneOf with such an alternative.
template<class T, class Alternative>
inline constexpr bool can_hold = std::is_same_v<T, Alternative>;
template<class T, class... Ts>
inline constexpr bool can_hold<T, std::variant<Ts...>> = (can_hold<T, Ts> || ...);
template<class T, class List>
inline constexpr bool can_hold<T, OneOf<List>> =
    std::is_same_v<T, OneOf<List>> || can_hold<T, typename List::Variant>;

/// A std::variant whose copies, moves and destructor are compiled in one source. With dozens of alternatives
/// they would dominate the compile time of every source that holds such a value. `List::Variant` is the
/// variant. It can also be constructed from an alternative of a nested OneOf: `Action action = GoTo{group}`.
/// The header contains `extern template class OneOf<List>`, one source `template class OneOf<List>`.
/// std::visit, std::get_if and std::holds_alternative accept a OneOf like a variant.
template<class List>
class OneOf : public List::Variant {
    using Variant = typename List::Variant;
    template<class T, class... Ts>
    static constexpr std::size_t place_of(const std::variant<Ts...>*) {
        std::size_t place = 0;
        static_cast<void>(((can_hold<T, Ts> || (++place, false)) || ...));
        return place;
    }

public:
    template<class T>
    requires(can_hold<std::remove_cvref_t<T>, Variant>) OneOf(T&& value)
        : Variant(std::in_place_index<place_of<std::remove_cvref_t<T>>(static_cast<Variant*>(nullptr))>,
                  std::forward<T>(value)) {}
    OneOf();
    OneOf(const OneOf& other);
    OneOf(OneOf&& other) noexcept;
    OneOf& operator=(const OneOf& other);
    OneOf& operator=(OneOf&& other) noexcept;
    ~OneOf();
};

template<class List>
OneOf<List>::OneOf() = default;
template<class List>
OneOf<List>::OneOf(const OneOf& other) = default;
template<class List>
OneOf<List>::OneOf(OneOf&& other) noexcept = default;
template<class List>
OneOf<List>& OneOf<List>::operator=(const OneOf& other) = default;
template<class List>
OneOf<List>& OneOf<List>::operator=(OneOf&& other) noexcept = default;
template<class List>
OneOf<List>::~OneOf() = default;

} // namespace headscope::app
