#include "app/state/engine_state.h"

#include <algorithm>

namespace headscope::app {

const checkpoint::ReferenceRow* ModelCheck::fault() const {
    const auto bad = std::ranges::find_if_not(rows, &checkpoint::ReferenceRow::agrees);
    return bad == rows.end() ? nullptr : &*bad;
}

const ModelCheck* EngineState::check_of(const checkpoint::TextModelPtr& model) const {
    return check && model != nullptr && check->of.lock() == model ? &*check : nullptr;
}

} // namespace headscope::app
