#include "app/commands/actions.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/matrix/comparison.h"
#include "core/base/message.h"

namespace headscope::app {

namespace {

constexpr float text_size = 13.0F;

/// The present state of the switch, in one sentence.
std::string sentence_of(const DrawContext& context) {
    const Comparison& compare = *context.compare;
    if (!compare.obstacle().empty())
        return compare.obstacle() +
               (compare.coming() || context.shown.document->shows_weights()
                    ? ""
                    : " " + tr("To compare cell by cell, change B back, or mark a new A."));
    if (context.showing == Compare::baseline)
        return tr("A is on screen: {}. An edit changes B and shows it.", compare.name());
    const ViewState& view = context.view;
    if (view.compare == Compare::difference && !draws_difference(view))
        return tr("These lines show B. The heatmap ({}) shows B − A.", key_hint("heatmap"));
    const TensorId id = page_tensor(view);
    const analysis::TensorDifference* change = compare.of(id);
    if (change == nullptr)
        return "A: " + compare.name() + ".";
    const std::string name(tensor_info(id).name);
    std::string text;
    if (change->changed == 0)
        text = tr("{}: no number differs from A.", name);
    else if (context.showing == Compare::now)
        text = tr_n("{} cell of {} differs from A ({}).", "{} cells of {} differ from A ({}).",
                    change->changed, grouped(change->changed), name, compare.name());
    else if (change->largest_at)
        text = tr("Largest change: {}, {}.", address_text(context.shown, {id, *change->largest_at}),
                  signed_number(change->largest, std::abs(change->largest) < 0.01F ? 4 : 2));
    if (change->masked_in_one > 0)
        text +=
            (text.empty() ? "" : " ") + tr_n("{} cell masked in one only.", "{} cells masked in one only.",
                                             change->masked_in_one, grouped(change->masked_in_one));
    if (analysis::words_differ(compare.baseline().problem(), compare.now().problem()))
        text += " " + tr("The words differ: cells are compared place by place.");
    return text;
}

} // namespace

Picture draw_compare_bar(const DrawContext& context) {
    Picture picture;
    const Theme& theme = context.theme;
    const bool possible = context.compare->comparable();
    const bool other = context.showing != Compare::now;
    picture.scene.add(figure::RectItem{.area = {0, 0, context.width, compare_bar_height},
                                       .fill = other ? theme.highlight : theme.panel});
    draw_hairline(picture, context, 0, compare_bar_height - 0.5F, context.width);
    if (other)
        picture.scene.add(figure::RectItem{.area = {0, 0, 3, compare_bar_height}, .fill = theme.ink});
    const auto segment = [&](const std::string& label, Compare what, const std::string& tip) {
        return Segment{label, ViewChange(SetCompare{what}), possible && context.view.compare == what, tip};
    };
    const std::vector<Segment> segments{
        segment(tr("A baseline"), Compare::baseline,
                with_key(tr("The numbers that were marked"), "baseline")),
        segment(tr("B now"), Compare::now, with_key(tr("The numbers as they are"), "baseline")),
        segment("B − A", Compare::difference, with_key(tr("What changed, cell by cell"), "changes"))};
    const float width = segmented_width(context, segments), y = (compare_bar_height - 28) / 2;
    if (possible) {
        draw_segmented(picture, context, canvas_pad - 8, y, segments);
    } else {
        picture.scene.add(figure::RectItem{
            .area = {canvas_pad - 8, y, width, 28}, .fill = theme.panel, .stroke = theme.line, .radius = 6});
        float x = canvas_pad - 8 + 13;
        for (const Segment& segment_off : segments) {
            draw_text(picture, context, x, figure::baseline_for(compare_bar_height / 2, text_size),
                      segment_off.label, figure::Font::ui_medium, text_size, theme.line2);
            x += context.measure(segment_off.label, figure::Font::ui_semibold, text_size) + 22;
        }
    }
    const float close = context.width - 40;
    const float x = canvas_pad - 8 + width + 16, room = close - 12 - x;
    const std::string text = sentence_of(context);
    const std::string fitting = fitted(context, text, figure::Font::ui, text_size, room);
    draw_text(picture, context, x, figure::baseline_for(compare_bar_height / 2, text_size), fitting,
              figure::Font::ui, text_size, other ? theme.ink : theme.text);
    if (fitting != text)
        picture.tips.push_back({{x, 0, room, compare_bar_height}, text});
    const figure::Point middle{close + 14, compare_bar_height / 2};
    picture.scene.add(
        figure::LineItem{{middle.x - 5, middle.y - 5}, {middle.x + 5, middle.y + 5}, theme.muted, 1.5F});
    picture.scene.add(
        figure::LineItem{{middle.x - 5, middle.y + 5}, {middle.x + 5, middle.y - 5}, theme.muted, 1.5F});
    picture.hotspots.push_back({{close, 6, 28, compare_bar_height - 12},
                                "forget A",
                                Action(DropBaseline{}),
                                tr("Stop comparing: forget A")});
    picture.scene.width = context.width;
    picture.scene.height = compare_bar_height;
    return picture;
}

} // namespace headscope::app
