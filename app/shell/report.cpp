#include "app/shell/report.h"

#include "app/shell/report/report_fields.h"
#include "core/base/json.h"
#include "core/text/plain_text.h"

#include <nlohmann/json.hpp>

namespace headscope::app {

std::vector<std::string> visible_errors(const AppState& state) {
    const Shown& shown = state.shown;
    std::vector<std::string> faults{state.error, state.model.error};
    if (shown.atlas != nullptr)
        faults.push_back(shown.atlas->survey_error);
    if (shown.patching != nullptr)
        faults.push_back(shown.patching->error);
    if (shown.circuits != nullptr)
        faults.push_back(shown.circuits->error);
    if (shown.map != nullptr)
        faults.push_back(shown.map->error);
    if (state.files.chooser)
        faults.push_back(state.files.chooser->chooser.error());
    if (state.files.hub)
        faults.push_back(state.files.hub->error);
    std::erase(faults, "");
    return faults;
}

std::string report(const AppState& state, const Picture& canvas, const WindowFacts& facts) {
    return dump_json(object_of(report_fields(), ReportSource{state, canvas, facts}));
}

std::string window_title(const AppState& state) {
    const FilesState& files = state.files;
    if (files.lesson && state.course.open != nullptr)
        return state.course.open->title + " · Headscope";
    const std::string& sentence = state.document->recipe.sentence;
    const bool own = !sentence.empty() && !state.document->has_head_grid();
    const std::string& name = own ? sentence : state.document->title;
    const bool named = !files.path.empty() && !state.document->is_checkpoint();
    return (files.unsaved ? "• " : "") + text::plain_text(named ? files.name() : name) + " · Headscope";
}

} // namespace headscope::app
