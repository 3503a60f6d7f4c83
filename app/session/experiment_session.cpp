#include "app/session/experiment_session.h"

#include "core/project/project_file.h"
#include "core/project/same_bits.h"

namespace headscope::app {

std::function<void(const std::string& path)> ExperimentSession::writer() const {
    return [document = state().document](const std::string& path) {
        project::save_project(document->recipe, document->problem, path);
    };
}

bool ExperimentSession::same_work(const Document& saved) const {
    return project::same_bits(state().document->recipe, saved.recipe);
}

} // namespace headscope::app
