#pragma once

namespace headscope {

/// A visitor for std::visit made of one handler per alternative.
template<class... Handlers>
struct Overloaded : Handlers... {
    using Handlers::operator()...;
};
// clang 14 does not deduce the arguments of an aggregate.
template<class... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

} // namespace headscope
