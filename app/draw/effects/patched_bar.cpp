#include "app/draw/effects/patched_bar.h"

#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "core/base/message.h"

namespace headscope::app {

Picture draw_patched_bar(const DrawContext& context, const PatchedRun& patch) {
    Picture picture;
    const Theme& theme = context.theme;
    constexpr float height = patched_bar_height, size = 13, button = 208;
    picture.scene.width = context.width;
    picture.scene.height = height;
    picture.scene.add(figure::RectItem{.area = {0, 0, context.width, height}, .fill = theme.highlight});
    picture.scene.add(figure::RectItem{.area = {0, 0, 3, height}, .fill = theme.ink});
    draw_hairline(picture, context, 0, height - 0.5F, context.width);
    const float x = canvas_pad - 8, end = context.width - 12 - (context.controls ? button + 12 : 0);
    const std::string words =
        patch.description +
        (patch.head < 0
             ? ""
             : " " + tr("patched_bar.stages_head_itself_show",
                        "The stages of this head itself still show the numbers of the corrupted prompt."));
    const std::string fitting = fitted_words(context, words, figure::Font::ui, size, end - x);
    draw_text(picture, context, x, figure::baseline_for(height / 2, size), fitting, figure::Font::ui, size,
              theme.ink);
    if (fitting != words)
        picture.tips.push_back({{x, 0, end - x, height}, words});
    if (context.controls)
        draw_button(picture, context, {context.width - 12 - button, 6, button, height - 12},
                    tr("patched_bar.back_prompts_own_run", "Back to the prompt's own run"), LeavePatch{},
                    false,
                    tr("patched_bar.run_clean_prompt_without",
                       "Returns to the run of the clean prompt, without a patch: {}", patch.clean->prompt));
    return picture;
}

} // namespace headscope::app
