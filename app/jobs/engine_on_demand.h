#pragma once

#include "core/engine/engine.h"

#include <memory>
#include <mutex>
#include <string>

namespace headscope::app {

/// An engine that is made for its first run and can be released between runs. Any thread may use every
/// member.
class EngineOnDemand {
public:
    /// `device`: as make_engine takes it.
    explicit EngineOnDemand(std::string device) : device_(std::move(device)) {}

    /// One run at a time. Throws what make_engine and Engine::run throw.
    Trace run(const Problem& problem, StageSet wanted, Progress& progress);
    /// Frees the engine and the memory that it keeps between runs. Does nothing while it runs.
    void release();

private:
    const std::string device_;
    std::mutex mutex_; ///< guards engine_
    std::unique_ptr<engine::Engine> engine_;
};

} // namespace headscope::app
