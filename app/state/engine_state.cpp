#include "app/state/engine_state.h"

namespace headscope::app {

const ModelCheck* EngineState::check_of(const checkpoint::TextModelPtr& model) const {
    return check && model != nullptr && check->of.lock() == model ? &*check : nullptr;
}

} // namespace headscope::app
