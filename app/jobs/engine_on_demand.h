#pragma once

#include "core/engine/engine.h"

#include <memory>
#include <mutex>
#include <string>

namespace headscope::app {

/// An engine that is created for its first run and can be released between runs. All members are thread-safe.
class EngineOnDemand {
public:
    /// `device`: an id for make_engine.
    explicit EngineOnDemand(std::string device) : device_(std::move(device)) {}

    /// One run at a time. Throws what make_engine and Engine::run throw.
    Trace run(const Problem& problem, StageSet wanted, Progress& progress);
    /// Frees the engine and its memory. No effect during a run.
    void release();

private:
    const std::string device_;
    std::mutex mutex_; ///< guards engine_
    std::unique_ptr<engine::Engine> engine_;
};

} // namespace headscope::app
