#include "app/jobs/switchable_engine.h"

#include "core/base/memory.h"

#include <utility>

namespace headscope::app {

SwitchableEngine::SwitchableEngine(std::string id, EngineMaker make)
    : make_(std::move(make)), chosen_(std::move(id)) {}

void SwitchableEngine::choose(const std::string& id) {
    const std::scoped_lock lock(mutex_);
    chosen_ = id;
    changed_ = true;
    fallback_reason_.clear();
}

std::string SwitchableEngine::fallback_reason() const {
    const std::scoped_lock lock(mutex_);
    return fallback_reason_;
}

std::string SwitchableEngine::name() const {
    const std::scoped_lock lock(mutex_);
    return chosen_;
}

void SwitchableEngine::fall_back(const std::string& id, const std::string& sentence) {
    engine_ = make_("cpu");
    const std::scoped_lock lock(mutex_);
    // Skip the notice if another device was chosen in the meantime.
    if (chosen_ == id && !changed_)
        fallback_reason_ = sentence;
}

engine::Engine& SwitchableEngine::chosen_engine() {
    std::string id;
    {
        const std::scoped_lock lock(mutex_);
        if (!std::exchange(changed_, false))
            return *engine_;
        id = chosen_;
    }
    engine_.reset();
    try {
        engine_ = make_(id);
    } catch (const Error& fault) {
        if (id == "cpu")
            throw;
        fall_back(id, fault.what());
    }
    return *engine_;
}

Trace SwitchableEngine::compute(const std::function<Trace(engine::Engine&)>& call) {
    engine::Engine& engine = chosen_engine();
    try {
        return call(engine);
    } catch (const MemoryShortage&) {
        throw; // the CPU would hold the same stages
    } catch (const Error& fault) {
        if (fault.kind() != ErrorKind::machine || engine.name() == "cpu")
            throw;
        fall_back(name(), fault.what());
    }
    return call(*engine_);
}

Trace SwitchableEngine::run(const Problem& problem, StageSet wanted, Progress& progress) {
    return compute([&](engine::Engine& engine) { return engine.run(problem, wanted, progress); });
}

Trace SwitchableEngine::rerun(const Problem& problem, const Problem& before, const Trace& previous,
                              Progress& progress) {
    return compute([&](engine::Engine& engine) { return engine.rerun(problem, before, previous, progress); });
}

} // namespace headscope::app
