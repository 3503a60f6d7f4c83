#include "app/draw/effects/patching_page.h"

#include "app/draw/kit/controls.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

using figure::Font;

Picture draw_patching_strip(const DrawContext& context) {
    const PatchingView* const view = context.shown.patching.get();
    const auto kind = [&](const std::string& label, analysis::PatchKind which) {
        return Segment{.label = label,
                       .action = AskPatching{.kind = which},
                       .on = view != nullptr && !view->asked.paths && view->asked.kind == which};
    };
    using enum analysis::PatchKind;
    const std::vector<Segment> tabs{
        kind(tr("patching_page.residual", "Residual"), residual),
        kind(tr("patching_page.attention_out", "Attention out"), analysis::PatchKind::attention),
        kind(tr("patching_page.mlp_out", "MLP out"), mlp),
        kind(tr("common.head_output", "Head output"), head),
        kind(tr("common.queries", "Queries"), q),
        kind(tr("common.keys", "Keys"), k),
        kind(tr("common.values", "Values"), v),
        kind(tr("common.weights", "Weights"), pattern),
        {.label = tr("patching_page.paths_2", "Paths"),
         .action = AskPatching{.paths = true},
         .on = view != nullptr && view->asked.paths}};
    float words = 0;
    for (const Segment& tab : tabs)
        words += context.measure(tab.label, Font::ui_semibold, 13);
    const float room = context.width - 56 - words;
    Picture picture;
    draw_strip_tabs(picture, context, tabs,
                    std::clamp(room / static_cast<float>(tabs.size() - 1), 8.0F, 26.0F), "patch ");
    return picture;
}

} // namespace headscope::app
