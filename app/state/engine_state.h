#pragma once

#include "app/state/model_check.h"
#include "core/analysis/stage_difference.h"
#include "core/engine/engine.h"

#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// A request from the engine badge or its panel.
struct EngineAction {
    /// list: list the available devices; check: check the numbers of the checkpoint
    enum class Kind { list, choose, compare, check };
    Kind kind = Kind::list;
    std::string id{}; ///< for choose: a value that --device takes
};

/// The result of computing one problem on two engines.
struct EngineComparison {
    std::string first, second; ///< device ids
    std::vector<analysis::StageDifference> stages = {};
    double first_seconds = 0, second_seconds = 0;
    std::string error = {}; ///< one sentence if one engine could not compute it
};

/// The engines as shown by the badge and its panel.
struct EngineState {
    bool listing = false, comparing = false, checking = false; ///< true while that runs in the background
    std::optional<engine::DeviceList> devices;                 ///< none until the devices were listed
    std::string chosen = "auto";
    std::string fallback_reason; ///< reason why the CPU runs instead of the chosen device, one sentence
    std::optional<EngineComparison> comparison;
    /// The last check. While `checking`, only its model is set.
    std::optional<ModelCheck> check;
    float check_fraction = 0; ///< progress of the check

    /// The check of this checkpoint; null: it has not been checked. `model` may be null.
    const ModelCheck* check_of(const checkpoint::TextModelPtr& model) const;
};

} // namespace headscope::app
