#include "app/cli/render/figure_options.h"

#include "app/draw/pages/stage_figure.h"
#include "app/shell/gl/offscreen.h"
#include "app/shell/picture_previews.h"
#include "app/state/screens/flow.h"
#include "app/state/screens/screen.h"
#include "core/base/error.h"
#include "core/engine/engine.h"

#include <memory>

namespace headscope::cli {

namespace {

/// The content of a stage or the Flow of an attention input. Needs no program around it.
app::ScreenSnapshot problem_screen(const SceneOptions& options, const app::DocumentPtr& document) {
    const std::unique_ptr<engine::Engine> engine = engine::make_engine(options.problem.device());
    const auto trace =
        std::make_shared<const Trace>(static_cast<engine::Engine&>(*engine).run(document->problem));
    const app::Shown shown{document, trace, analysis::head_metrics(document->problem, *trace, 0)};
    app::ViewState view = view_of(options, *document);
    if (options.screen == "flow") {
        if (const std::string why = app::why_no_flow(*document); !why.empty())
            fail_input("--screen flow: " + why);
        view.attention.screen = app::Screen::flow;
        show_flow_instant(options, shown, view);
    }
    return {shown, view};
}

/// The content of the window's canvas.
app::ScreenSnapshot program_screen(const FigureScene& figure, const app::DocumentPtr& document) {
    const SceneOptions& options = figure.scene;
    const std::unique_ptr<app::Program> program = make_program(options, document);
    show_scene(*program, options, document);
    require_screen(options, program->state());
    if (options.screen == "patching" && program->state().model.patching.corrupted.empty())
        fail_input("--screen patching compares two prompts; give the second one with --corrupted");
    if (program->state().shown.map != nullptr) {
        // The result depends on the size of the viewport, which the first frame determines.
        const PictureSize window = figure.size.value_or(PictureSize{1600, 1000});
        app::render_offscreen(*program, window.width, window.height, 1);
        check_program(*program);
    }
    return app::figure_screen(program->state());
}

/// Returns true if the figure shows all heads of the layer instead of the open one.
bool shows_all_heads(const FigureScene& figure, const app::ScreenSnapshot& screen) {
    const app::Document& document = *screen.shown.document;
    if (figure.one_head || !document.has_head_grid() ||
        app::screen_of(screen.shown, screen.view) != app::Screen::stages)
        return false;
    if (const app::GivenWeights* const given = document.given(); given != nullptr && !given->loaded.all())
        fail_input(
            "the heads of this layer are too large to be drawn in one picture; choose one with --head");
    return true;
}

} // namespace

void require_screen(const SceneOptions& options, const app::AppState& state) {
    const Dims& dims = state.document->problem.dims;
    if (options.screen == "map" && app::screen_of(state.shown, state.view) != app::Screen::map)
        fail_input("--screen map: this " + std::string(options.attention ? "file of weights" : "document") +
                   " has " + std::to_string(std::max(dims.Tq, dims.Tk)) +
                   " tokens, and the map needs at least " + std::to_string(app::min_map_tokens) +
                   "; leave --screen out");
    if (options.screen == "flow" && options.model)
        if (const std::string why = app::why_no_flow(*state.document); !why.empty())
            fail_input("--screen flow: " + why);
}

std::string render_figure(const FigureScene& figure, const app::DocumentPtr& document) {
    const SceneOptions& options = figure.scene;
    const bool by_program =
        options.model || options.attention || (options.screen != "stages" && options.screen != "flow");
    app::ScreenSnapshot screen =
        by_program ? program_screen(figure, document) : problem_screen(options, document);
    screen.view.dark = figure.choice.dark;
    figure::Point size = app::usual_figure_size(screen.shown, screen.view);
    if (figure.size)
        size = {static_cast<float>(figure.size->width), static_cast<float>(figure.size->height)};
    const figure::Scene scene = app::stage_scene(screen.shown, screen.view,
                                                 {.width = size.x,
                                                  .height = size.y,
                                                  .fixed_width = figure.size.has_value(),
                                                  .crop = figure.choice.crop,
                                                  .title = figure.choice.title,
                                                  .all_heads = shows_all_heads(figure, screen),
                                                  .head_grid = screen.head_grid.get()});
    app::PictureExtent extent{.scale = options.scale};
    if (figure.choice.unit != app::PictureUnit::times)
        extent = app::picture_extent(figure.choice, figure.format != figure::FigureFormat::png, scene.width,
                                     scene.height);
    return figure::draw_figure(scene, figure.format, extent.scale,
                               app::background_color(screen.view, figure.choice.background),
                               extent.paper_scale);
}

} // namespace headscope::cli
