#include "app/draw/panels/two_texts_panel.h"

#include "app/draw/kit/format.h"
#include "app/draw/kit/stack_names.h"
#include "app/draw/panels/token_chips.h"
#include "core/base/message.h"
#include "core/checkpoint/generation/first_target.h"

namespace headscope::app {

namespace {

void write_heading(Sheet& sheet, const std::string& name, std::int64_t count) {
    const Theme& theme = sheet.context.theme;
    sheet.put(sheet.left, name, sheet.width() - 80, figure::Font::ui_semibold, 13, theme.ink);
    sheet.put(sheet.right, tr_n("two_texts_panel.token", "{} token", "{} tokens", count, grouped(count)), 76,
              figure::Font::ui, 12.5F, theme.muted, figure::Align::right);
    sheet.y += Sheet::row_height;
}

} // namespace

void write_source(Sheet& sheet, const std::vector<std::string>& source, std::int64_t target) {
    write_heading(sheet, tr("two_texts_panel.source_encoder", "Source, into the encoder"),
                  std::ssize(source));
    write_tokens(sheet, source, std::ssize(source), std::nullopt);
    write_heading(sheet, tr("two_texts_panel.target_out_decoder", "Target, out of the decoder"), target);
}

void write_target_origin(Sheet& sheet, const RunSpec& part) {
    const Theme& theme = sheet.context.theme;
    const bool writes = part.model->tokenizer != nullptr && part.model->model->has_head();
    if (part.inputs->T == 1)
        sheet.paragraph(tr("two_texts_panel.start_token_alone",
                           "The start token alone: the decoder has written nothing yet."),
                        theme.muted);
    else if (part.written > 0)
        sheet.paragraph(tr_n("two_texts_panel.underlined_token_written",
                             "The underlined {} token was written by the model.",
                             "The underlined {} tokens were written by the model.", part.written,
                             grouped(part.written)),
                        theme.muted);
    if (!writes)
        return;
    sheet.y += part.inputs->T == 1 || part.written > 0 ? 6.0F : 0.0F;
    draw_button(
        sheet.picture, sheet.context, {sheet.left, sheet.y, sheet.width(), 30},
        tr("two_texts_panel.let_decoder_write", "Let the decoder write"), GenerateTarget{}, false,
        tr("two_texts_panel.place_target_always",
           "Replaces the target: always the likeliest token, at most {} or until a token ends the text",
           checkpoint::most_first_tokens));
    sheet.y += 42;
}

void write_stacks(Sheet& sheet) {
    const DrawContext& context = sheet.context;
    const Theme& theme = context.theme;
    sheet.section(tr("two_texts_panel.three_kinds_attention", "Three kinds of attention"));
    for (const StackNames& words : named_stacks()) {
        const bool on = words.stack == context.view.attention.stack;
        constexpr float height = 44;
        const figure::Rect area{sheet.left - 12, sheet.y, sheet.width() + 24, height};
        if (on) {
            sheet.picture.scene.add(figure::RectItem{.area = area, .fill = theme.highlight});
            sheet.picture.scene.add(figure::RectItem{.area = {area.x, area.y, 3, area.h}, .fill = theme.ink});
        }
        const float top = sheet.y;
        const std::string name = tr(words.name), reads = tr(words.reads), mask = tr(words.mask);
        draw_text(sheet.picture, context, sheet.left, top + 18, name,
                  on ? figure::Font::ui_semibold : figure::Font::ui_medium, 13, theme.ink);
        draw_text(sheet.picture, context, sheet.right, top + 18, mask, figure::Font::ui, 12.5F, theme.muted,
                  figure::Align::right);
        draw_text(sheet.picture, context, sheet.left, top + 35, reads, figure::Font::ui, 12.5F, theme.text);
        sheet.picture.add_hotspot(
            area, "heads of " + std::string(words.name.english), ShowStack{words.stack},
            tr("two_texts_panel.show_heads_kind_board", "Show the heads of this kind in the grid"));
        sheet.y = top + height;
    }
    sheet.y += 12;
}

} // namespace headscope::app
