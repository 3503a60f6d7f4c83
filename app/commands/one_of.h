#pragma once

#include <type_traits>
#include <utility>
#include <variant>

namespace headscope::app {

/// A std::variant whose copies, moves and destructor are compiled in one source. Of dozens of alternatives
/// they would be most of the work for every source that holds such a value. `List::Variant` is the variant.
/// The header says `extern template class OneOf<List>`, one source `template class OneOf<List>`. std::visit,
/// std::get_if and std::holds_alternative take a OneOf as they take a variant.
template<class List>
class OneOf : public List::Variant {
    using Variant = typename List::Variant;
    template<class T, class... Ts>
    static constexpr bool is_one(const std::variant<Ts...>*) {
        return (std::is_same_v<T, Ts> || ...);
    }

public:
    template<class T>
    requires(is_one<std::remove_cvref_t<T>>(static_cast<Variant*>(nullptr))) OneOf(T&& value)
        : Variant(std::in_place_type<std::remove_cvref_t<T>>, std::forward<T>(value)) {}
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
