#pragma once

#include "core/analysis/stage_difference.h"
#include "core/engine/engine.h"

#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// What the engine badge and its panel can ask for.
struct EngineAction {
    enum class Kind { look, choose, compare };
    Kind kind = Kind::look; ///< look: what there is to choose from
    std::string id{};       ///< for choose: what --device takes
};

/// What came of running one problem on two engines.
struct EngineComparison {
    std::string first, second; ///< ids of the devices
    std::vector<analysis::StageDifference> stages = {};
    double first_seconds = 0, second_seconds = 0;
    std::string error = {}; ///< one sentence when one of them could not run it
};

/// The engines as the badge and its panel show them.
struct EngineState {
    bool looking = false, comparing = false; ///< in the background
    std::optional<engine::DeviceList> found; ///< once somebody has looked
    std::string chosen = "auto";
    std::string notice; ///< why the CPU runs in place of what was chosen, in one sentence
    std::optional<EngineComparison> comparison;
};

} // namespace headscope::app
