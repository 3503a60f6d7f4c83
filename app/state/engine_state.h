#pragma once

#include "core/analysis/stage_difference.h"
#include "core/engine/engine.h"

#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// A request from the engine badge or its panel.
struct EngineAction {
    enum class Kind { list, choose, compare };
    Kind kind = Kind::list; ///< list: list the available devices
    std::string id{};       ///< for choose: a value that --device takes
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
    bool listing = false, comparing = false;   ///< true while that runs in the background
    std::optional<engine::DeviceList> devices; ///< none until the devices were listed
    std::string chosen = "auto";
    std::string fallback_reason; ///< reason why the CPU runs instead of the chosen device, one sentence
    std::optional<EngineComparison> comparison;
};

} // namespace headscope::app
