#pragma once

namespace headscope {

/// One visitor made of a handler per alternative, for std::visit.
template<class... Handlers>
struct Overloaded : Handlers... {
    using Handlers::operator()...;
};

} // namespace headscope
