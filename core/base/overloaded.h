#pragma once

namespace headscope {

/// One visitor made of a handler per alternative, for std::visit.
template<class... Handlers>
struct Overloaded : Handlers... {
    using Handlers::operator()...;
};
// clang 14 does not deduce the arguments of an aggregate by itself.
template<class... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

} // namespace headscope
