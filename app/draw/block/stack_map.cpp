#include "app/draw/block/block_parts.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "core/base/message.h"

#include <algorithm>
#include <utility>

namespace headscope::app {

namespace {

using G = StageGroup;

constexpr float pad = 24, line_pitch = 24, box = 20, small_pitch = 8;
constexpr std::int64_t most_named = 8; ///< layers with a box of their own

/// One box of the map.
struct Line {
    std::string name;       ///< in English
    std::string label = {}; ///< in the user's language; empty: the name
    std::optional<float> adds = {};
    GoTo target;
    bool on = false;
    bool inside = false; ///< of the open layer
    bool plus = false;   ///< a sum follows it
    bool small = false;
};

class StackMap {
public:
    StackMap(Picture& p, const DrawContext& c)
        : picture(p), context(c), walk(c.view.step_strip), i(row_around(c)),
          in_layer(&walk.section_with(c.view.group) == &walk.layer),
          open(in_layer ? c.view.attention.layer : -1) {
        const checkpoint::StackLengths* const lengths = context.shown.lengths.get();
        const auto at = static_cast<std::size_t>(i);
        lines.push_back({.name = "embed",
                         .label = tr("common.embed", "embed"),
                         .adds = lengths == nullptr ? std::nullopt : std::optional(lengths->begin[at]),
                         .target = {walk.before.front()},
                         .on = on_part(walk.before)});
        for (std::int64_t l = 0; l < walk.layers; ++l) {
            const bool near =
                std::abs(l - std::clamp<std::int64_t>(c.view.attention.layer, 0, walk.layers - 1)) <= 1;
            const std::optional<float> adds =
                lengths == nullptr ? std::nullopt
                                   : std::optional(lengths->layers[static_cast<std::size_t>(l)][at]);
            lines.push_back({.name = "L" + std::to_string(l),
                             .adds = adds,
                             .target = {in_layer ? c.view.group : walk.layer.front(), -1, l},
                             .small = walk.layers > most_named && !near});
            if (l == open)
                add_open_layer();
        }
        for (const G stop : walk.after)
            lines.push_back({.name = std::string(group_info(stop).title.english),
                             .label = tr(group_info(stop).title),
                             .target = {stop},
                             .on = stop == c.view.group});
    }

    float draw(float y) {
        const Theme& theme = context.theme;
        draw_text(picture, context, pad, y + 14, tr("stack_map.where_you_are", "Where you are"),
                  figure::Font::ui_semibold, 13.5F, theme.ink);
        draw_text(picture, context, context.width - pad, y + 14,
                  tr("stack_map.adds", "adds at “{}”", shortened(query_word(context.shown.problem(), i), 10)),
                  figure::Font::ui, 12, theme.muted, figure::Align::right);
        y += 26;
        const float top = y + line_pitch / 2;
        float longest = 1e-6F;
        for (const Line& line : lines)
            longest = std::max(longest, line.adds.value_or(0));
        Picture boxes;
        float bottom = y;
        for (const Line& line : lines) {
            bottom = y + (line.small ? small_pitch : line_pitch) / 2;
            y = draw_line(boxes, line, y, longest);
        }
        picture.scene.add(figure::RectItem{.area = {pad + 6, top, 2, bottom - top}, .fill = theme.line2});
        picture.append(std::move(boxes), 0, 0);
        return y + 6;
    }

private:
    bool on_part(const std::vector<G>& part) const { return &walk.section_with(context.view.group) == &part; }

    /// Norms, attention and MLP of the open layer, as far as it has them.
    void add_open_layer() {
        const Shown& shown = context.shown;
        const auto adds = [&](TensorId id) -> std::optional<float> {
            const Tensor* const tensor = shown.tensor(id);
            if (tensor == nullptr || shown.block->place.layer != open)
                return std::nullopt;
            return checkpoint::row_lengths(*tensor)[static_cast<std::size_t>(i)];
        };
        const auto has = [&](G stop) { return std::ranges::find(walk.layer, stop) != walk.layer.end(); };
        bool attention = false, mlp = false;
        for (const G stop : walk.layer) {
            const bool on = stop == context.view.group;
            if (stop == G::norm1 || stop == G::norm2) {
                lines.push_back({.name = std::string(group_info(stop).label),
                                 .target = {stop},
                                 .on = on,
                                 .inside = true});
            } else if (!is_around(stop) && !attention) {
                attention = true;
                lines.push_back({.name = "attention",
                                 .label = tr("common.attention", "attention"),
                                 .adds = adds(TensorId::attn_out),
                                 .target = {G::x},
                                 .on = !is_around(context.view.group) || context.view.group == G::attn_out,
                                 .inside = true,
                                 .plus = has(G::resid_mid)});
            } else if (stop >= G::mlp_pre && stop <= G::mlp_out && !mlp) {
                mlp = true;
                lines.push_back({.name = "MLP",
                                 .adds = adds(TensorId::mlp_out),
                                 .target = {stop},
                                 .on = context.view.group >= G::mlp_pre && context.view.group <= G::mlp_out,
                                 .inside = true,
                                 .plus = true});
            }
        }
    }

    float draw_line(Picture& boxes, const Line& line, float y, float longest) {
        const Theme& theme = context.theme;
        const float pitch = line.small ? small_pitch : line_pitch, height = line.small ? 6.0F : box;
        const float indent = line.inside ? 36.0F : 22.0F, left = pad + indent;
        const std::string& label = line.label.empty() ? line.name : line.label;
        const figure::Font font = line.on ? figure::Font::ui_semibold : figure::Font::ui_medium;
        const float words = line.small ? 0 : context.measure(label, font, 12) + 16;
        const figure::Rect area{left, y + (pitch - height) / 2, std::max(118 - indent, words), height};
        if (line.inside)
            boxes.scene.add(figure::RectItem{.area = {pad + 16, y, context.width - 2 * pad - 16, pitch},
                                             .fill = theme.highlight});
        const float middle = y + pitch / 2;
        boxes.scene.add(figure::LineItem{{pad + 7, middle}, {left, middle}, theme.line2, 1});
        if (line.plus) {
            boxes.scene.add(figure::RectItem{
                .area = {pad, middle - 7, 14, 14}, .fill = theme.panel, .stroke = theme.ink, .radius = 7});
            boxes.scene.add(figure::LineItem{{pad + 4, middle}, {pad + 10, middle}, theme.ink, 1});
            boxes.scene.add(figure::LineItem{{pad + 7, middle - 3}, {pad + 7, middle + 3}, theme.ink, 1});
        }
        boxes.scene.add(figure::RectItem{.area = area,
                                         .fill = line.on      ? theme.ink
                                                 : line.small ? theme.line2
                                                              : theme.raise,
                                         .stroke = line.on ? theme.ink : theme.line2,
                                         .radius = line.small ? 2.0F : 4.0F});
        if (!line.small)
            add_text(boxes.scene, {left + 8, figure::baseline_for(middle, 12)}, label, font, 12,
                     line.on ? theme.canvas : theme.ink);
        if (line.adds) {
            const float bar = pad + 132, room = context.width - pad - bar - 48;
            boxes.scene.add(figure::RectItem{.area = {bar, middle - (line.small ? 2.0F : 4.0F),
                                                      room * *line.adds / longest, line.small ? 4.0F : 8.0F},
                                             .fill = line.on ? theme.ink : theme.muted});
            if (!line.small)
                draw_text(boxes, context, context.width - pad - 4, figure::baseline_for(middle, 12),
                          number(static_cast<double>(*line.adds), 1), figure::Font::mono, 12, theme.text,
                          figure::Align::right);
        }
        boxes.add_hotspot({left, y, context.width - pad - left, pitch}, "map " + line.name, line.target,
                          line.adds ? tr("stack_map.adds_vector_length", "{}: adds a vector of length {}",
                                         label, number(static_cast<double>(*line.adds), 2))
                                    : label);
        return y + pitch;
    }

    Picture& picture;
    const DrawContext& context;
    const StepStrip& walk;
    const std::int64_t i;
    const bool in_layer;
    const std::int64_t open;
    std::vector<Line> lines;
};

} // namespace

float draw_stack_map(Picture& picture, const DrawContext& context, float y) {
    return StackMap(picture, context).draw(y);
}

} // namespace headscope::app
