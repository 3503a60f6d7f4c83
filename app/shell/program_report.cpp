#include "app/shell/program.h"
#include "app/views/file_views.h"
#include "core/text/plain_text.h"

#include <nlohmann/json.hpp>

namespace headscope::app {

namespace {

nlohmann::json rect_json(const figure::Rect& area, float scale) {
    return {area.x * scale, area.y * scale, area.w * scale, area.h * scale};
}

} // namespace

std::string Program::report(float scale) const {
    nlohmann::json out;
    const Shown& shown = state_.shown;
    out["revision"] = shown.document == nullptr ? 0 : shown.document->revision;
    out["settled"] = !animating() && shown.document == wanted_document();
    out["sentence"] = state_.document->recipe.sentence;
    out["kv_sentence"] = state_.document->recipe.kv_sentence;
    out["preset"] = state_.document->recipe.preset;
    out["tokens"] = state_.document->problem.tokens;
    out["kv_tokens"] = state_.document->problem.kv_tokens;
    out["stage"] = group_info(state_.view.group).label;
    out["row"] = state_.view.row;
    static constexpr const char* compared[] = {"now", "baseline", "difference"};
    out["compare"] = compared[static_cast<std::size_t>(effective(state_.compare, state_.view.compare))];
    if (state_.document->shows_weights())
        out["attention"] = {{"file", state_.document->title},
                            {"layer", state_.view.attention.layer},
                            {"head", state_.view.head},
                            {"ready", state_.board->ready()}};
    out["error"] = state_.error;
    out["dark"] = state_.view.dark;
    out["playing"] = state_.view.playing;
    out["project"] = state_.files.path;
    out["unsaved"] = state_.files.unsaved;
    out["saved"] = save_status(state_.files).text;
    out["typing"] = typing_;
    out["dialog"] = dialog_name(state_.files);
    auto& grids = out["grids"] = nlohmann::json::array();
    for (const MatrixGrid& grid : canvas_.grids)
        grids.push_back({{"tensor", tensor_info(grid.tensor).name},
                         {"origin", grid.origin},
                         {"row_axis", grid.row_axis},
                         {"col_axis", grid.col_axis},
                         {"rows", grid.rows},
                         {"cols", grid.cols},
                         {"area", rect_json(grid.area, scale)},
                         {"pitch", {grid.pitch_x * scale, grid.pitch_y * scale}},
                         {"gap", grid.gap * scale},
                         {"heatmap", grid.heatmap},
                         {"map", grid.map},
                         {"low", grid.low},
                         {"high", grid.high},
                         {"actual", grid.actual}});
    return out.dump();
}

std::string Program::title() const {
    const FilesState& files = state_.files;
    const std::string& sentence = state_.document->recipe.sentence;
    const bool own = !sentence.empty() && !state_.document->has_board();
    const std::string& name = own ? sentence : state_.document->title;
    const bool named = !files.path.empty() && !state_.document->is_checkpoint();
    return (files.unsaved ? "• " : "") + (named ? text::plain_text(files.name()) : name) + " · Headscope";
}

} // namespace headscope::app
