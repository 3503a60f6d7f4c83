#include "app/session/experiment_session.h"

#include "app/session/project_view.h"
#include "core/analysis/traced_weights.h"
#include "core/project/project_file.h"
#include "core/project/same_bits.h"

namespace headscope::app {

ExperimentSession::ExperimentSession(SessionHost& host)
    : Session(host), grid_(host.state(), host.wake()), atlas_(host.state(), host.wake()),
      map_(host.state(), host.wake()) {
    Screen& screen = state().view.attention.screen; // not the screen of another kind of document
    screen = screen == Screen::flow ? Screen::flow : Screen::stages;
}

ExperimentSession::~ExperimentSession() {
    state().shown.atlas = nullptr;
}

void ExperimentSession::take_results() {
    const Shown& shown = state().shown;
    const std::int64_t batch = state().view.batch;
    if (state().view.attention.screen != Screen::atlas || shown.trace == nullptr ||
        !shown.document->is_experiment() || shown.trace->stage(TensorId::weights) == nullptr) {
        set_ = nullptr;
        set_of_ = nullptr;
    } else if (set_of_ != shown.trace || batch_of_set_ != batch) {
        set_ = std::make_shared<const analysis::TracedWeights>(shown.problem(), *shown.trace, batch);
        set_of_ = shown.trace;
        batch_of_set_ = batch;
        state().view.attention.layer = 0; // the only layer
    }
    grid_.follow(set_);
    atlas_.follow(set_, nullptr);
    map_.follow();
}

void ExperimentSession::settle() {
    do {
        grid_.wait();
        atlas_.wait();
        map_.wait();
        take_results();
    } while (busy());
}

std::function<void(const std::string& path)> ExperimentSession::save_function() const {
    return [document = state().document, view = project_view_json(state().view, *state().document,
                                                                  host().steps())](const std::string& path) {
        project::save_project(document->recipe, document->problem, path,
                              {{std::string(project::view_key), view}});
    };
}

bool ExperimentSession::same_work(const Document& saved) const {
    return project::same_bits(state().document->recipe, saved.recipe);
}

} // namespace headscope::app
