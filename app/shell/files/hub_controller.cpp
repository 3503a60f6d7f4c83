#include "app/shell/files/hub_controller.h"

#include "core/base/error.h"
#include "core/base/parse.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace headscope::app {

using HubStep = HubDialog::Step;

HubController::HubController(FilesState& files, Setup setup)
    : files_(files), setup_(std::move(setup)), job_(setup_.client, setup_.wake) {}

void HubController::act(const HubAction& action) {
    using Kind = HubAction::Kind;
    if (action.kind == Kind::open) {
        const hub::Settings settings = hub::settings_from_environment();
        files_.hub =
            HubDialog{.name = action.name, .server = settings.server.endpoint, .cache = settings.cache};
        return;
    }
    if (!files_.hub || (files_.hub->is_working() && action.kind != Kind::close))
        return;
    switch (action.kind) {
    case Kind::open:
        return;
    case Kind::edit:
        files_.hub->step = HubStep::naming;
        files_.hub->error.clear();
        return;
    case Kind::close:
        return close();
    case Kind::find:
    case Kind::download:
        if (action.kind == Kind::download && files_.hub->step != HubStep::found)
            return; // nothing was offered
        files_.hub->error.clear();
        files_.hub->step = action.kind == Kind::find ? HubStep::finding : HubStep::downloading;
        waiting_ = action;
        return start_waiting();
    }
}

void HubController::find(const std::string& name) {
    try {
        job_.find(
            hub::require_model_name(trimmed(name, " \t")),
            [this](HubJob::Found what) { found(std::move(what)); },
            [this](const std::string& sentence) { failed(sentence); });
    } catch (const Error& fault) {
        failed(fault.what());
    }
}

void HubController::found(HubJob::Found what) {
    if (!files_.hub)
        return;
    if (!what.folder.empty()) {
        files_.hub.reset();
        return setup_.open(what.folder);
    }
    files_.hub->plan = std::move(what.plan);
    // The largest files, which are the weights, come first: the list may be too short for all.
    std::ranges::stable_sort(files_.hub->plan.files, std::greater(), &hub::ListedFile::size);
    files_.hub->step = HubStep::found;
    if (files_.hub->plan.missing == 0) // all files are there: only their names in the cache are missing
        act({HubAction::Kind::download});
}

void HubController::download() {
    began_.reset();
    files_.hub->bytes_per_second = 0;
    files_.hub->received = {.bytes = files_.hub->plan.bytes - files_.hub->plan.missing,
                            .of_bytes = files_.hub->plan.bytes};
    job_.download(
        files_.hub->plan,
        [this](const std::string& folder) {
            files_.hub.reset();
            setup_.open(folder);
        },
        [this](const std::string& sentence) { failed(sentence); });
}

void HubController::close() {
    HubDialog& dialog = *files_.hub;
    waiting_.reset();
    if (!dialog.is_working())
        return files_.hub.reset();
    job_.cancel();
    failed("");
}

void HubController::failed(const std::string& sentence) {
    if (!files_.hub)
        return;
    HubDialog& dialog = *files_.hub;
    if (dialog.step == HubStep::downloading)
        dialog.plan.missing = dialog.plan.bytes - job_.state().bytes;
    dialog.step = dialog.step == HubStep::downloading ? HubStep::found : HubStep::naming;
    dialog.focus_name = true;
    dialog.error = sentence;
}

void HubController::follow_progress() {
    HubDialog& dialog = *files_.hub;
    dialog.received = job_.state();
    const std::uint64_t bytes = dialog.received.bytes;
    if (!began_ || bytes < first_) {
        began_ = now_;
        first_ = bytes;
    }
    constexpr double least_seconds = 1; // a shorter time gives no useful rate
    const double seconds = now_ - *began_;
    dialog.bytes_per_second = seconds < least_seconds ? 0 : static_cast<double>(bytes - first_) / seconds;
}

void HubController::start_waiting() {
    if (!waiting_ || !files_.hub || job_.busy())
        return;
    const HubAction action = *std::exchange(waiting_, std::nullopt);
    action.kind == HubAction::Kind::find ? find(action.name) : download();
}

void HubController::frame(double now) {
    now_ = now;
    job_.poll();
    start_waiting();
    if (files_.hub && files_.hub->step == HubStep::downloading && job_.busy())
        follow_progress();
}

double HubController::next_frame_at() const {
    constexpr double step = 0.1;
    return files_.hub && files_.hub->is_working() ? now_ + step : std::numeric_limits<double>::infinity();
}

} // namespace headscope::app
