#include "app/jobs/engine_selector.h"

#include "app/state/model_document.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/checks/self_check.h"

#include <ctime>
#include <utility>

namespace headscope::app {

namespace {

/// Runs a problem on the CPU and on another device.
EngineComparison compare(const EngineMaker& make, const std::string& id, const Problem& problem,
                         Progress& progress) {
    EngineComparison result{.first = "cpu", .second = id};
    try {
        const Trace first = make("cpu")->run(problem, StageSet::all(), progress);
        const std::unique_ptr<engine::Engine> other = make(id);
        // The first run compiles kernels; the second is timed.
        other->run(problem, StageSet::all(), progress);
        const Trace second = other->run(problem, StageSet::all(), progress);
        result.second = second.device;
        result.first_seconds = first.seconds;
        result.second_seconds = second.seconds;
        result.stages = analysis::stage_differences(first, second);
    } catch (const std::bad_alloc&) {
        result.error =
            tr("engine_desk.two_traces_problem_need",
               "Not enough free memory for two traces of this problem; take fewer tokens or heads.");
    } catch (const std::exception& fault) {
        result.error = fault.what();
    }
    return result;
}

std::string time_of_day() {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    if (::localtime_r(&now, &local) == nullptr)
        return {};
    char text[16];
    return std::string(text, std::strftime(text, sizeof text, "%H:%M", &local));
}

ModelCheck check(const checkpoint::TextModelPtr& model, Progress& progress) {
    ModelCheck result{.of = model, .tokens = 0, .time = time_of_day(), .rows = {}, .error = {}};
    try {
        const checkpoint::ModelInputs inputs = checkpoint::self_check_inputs(*model);
        result.tokens = inputs.T;
        result.rows = checkpoint::check_itself(*model->model, inputs, nullptr, progress);
    } catch (const std::bad_alloc&) {
        result.error = tr("engine_desk.check_needs_memory",
                          "Not enough free memory to check this model; close other programs.");
    } catch (const Error& fault) {
        if (fault.kind() == ErrorKind::cancelled)
            throw;
        result.error = fault.what();
    }
    return result;
}

/// The list of devices depends only on the machine.
const DerivedKey device_list{nullptr, "devices"};

} // namespace

EngineSelector::EngineSelector(const std::string& id, EngineMaker make,
                               std::function<engine::DeviceList()> list_devices)
    : make_(std::move(make)), list_devices_(std::move(list_devices)),
      made_(std::make_unique<SwitchableEngine>(id, make_)), engine_(made_.get()), values_({}) {
    state_.chosen = id;
}

std::unique_ptr<engine::Engine> EngineSelector::engine() {
    return std::move(made_);
}

bool EngineSelector::act(const EngineAction& action, const DocumentPtr& document) {
    switch (action.kind) {
    case EngineAction::Kind::list:
        if (!state_.devices && !state_.listing) {
            state_.listing = true;
            values_.ask<engine::DeviceList>(device_list, Priority::background,
                                            [this](Progress&, const auto&) { return list_devices_(); });
        }
        return false;
    case EngineAction::Kind::choose:
        if (action.id == state_.chosen && engine_->fallback_reason().empty())
            return false;
        state_.chosen = action.id;
        engine_->choose(action.id);
        return true;
    case EngineAction::Kind::compare:
        if (state_.comparing)
            return false;
        state_.comparing = true;
        state_.comparison.reset();
        comparing_ = {document, "comparison"};
        values_.ask<EngineComparison>(
            comparing_, Priority::background,
            [this, id = state_.chosen.starts_with("vulkan") ? state_.chosen : "vulkan", document](
                Progress& progress, const auto&) { return compare(make_, id, document->problem, progress); });
        break;
    case EngineAction::Kind::check:
        if (document->is_checkpoint())
            start_check(document->part()->model);
        break;
    }
    return false;
}

/// A check of another checkpoint that is in progress is cancelled.
void EngineSelector::start_check(const checkpoint::TextModelPtr& model) {
    if (state_.checking && checking_.of == model)
        return;
    state_.checking = true;
    state_.check_fraction = 0;
    state_.check = ModelCheck{.of = model, .tokens = 0, .time = {}, .rows = {}, .error = {}};
    checking_ = {model, "check"};
    drop_others();
    values_.ask<ModelCheck>(checking_, Priority::background,
                            [model](Progress& progress, const auto&) { return check(model, progress); });
}

bool EngineSelector::poll() {
    state_.fallback_reason = engine_->fallback_reason();
    if (const auto found = values_.peek<engine::DeviceList>(device_list); state_.listing && found.done) {
        state_.listing = false;
        if (found.value != nullptr)
            state_.devices = *found.value;
    }
    if (const auto compared = values_.peek<EngineComparison>(comparing_); state_.comparing && compared.done) {
        state_.comparing = false;
        if (compared.value != nullptr)
            state_.comparison = *compared.value;
        comparing_ = {};
        drop_others();
    }
    if (!state_.checking)
        return false;
    const auto checked = values_.peek<ModelCheck>(checking_);
    state_.check_fraction = checked.fraction;
    if (!checked.done)
        return false;
    state_.checking = false;
    state_.check.reset();
    if (checked.value != nullptr)
        state_.check = *checked.value;
    checking_ = {};
    drop_others();
    return state_.check.has_value();
}

void EngineSelector::drop_others() {
    values_.retain({nullptr, comparing_.of, checking_.of});
}

} // namespace headscope::app
