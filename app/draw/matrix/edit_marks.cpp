#include "app/draw/matrix/edit_marks.h"

#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/state/model_document.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace headscope::app {

namespace {

constexpr float smallest_mark = 9.0F, largest_mark = 11.0F;

struct MarkPlaces {
    float size;
    bool beside; ///< side by side; otherwise one below the other
};

MarkPlaces mark_places(const figure::Rect& map) {
    const float size =
        std::min({std::clamp(std::floor(map.w / 4), smallest_mark, largest_mark), map.w, map.h});
    return {size, map.w >= 2 * size + 2};
}

void draw_square(Picture& picture, const Theme& theme, const figure::Rect& area, bool cross) {
    figure::Scene& scene = picture.scene;
    // A border in the canvas color, because the map below may be as dark as ink.
    scene.add(
        figure::RectItem{.area = {area.x - 1, area.y - 1, area.w + 2, area.h + 2}, .fill = theme.canvas});
    scene.add(figure::RectItem{.area = area, .fill = cross ? theme.ink : theme.canvas, .stroke = theme.ink});
    if (cross) {
        const float in = area.w * 0.28F;
        const figure::Rect inner{area.x + in, area.y + in, area.w - 2 * in, area.h - 2 * in};
        scene.add(figure::LineItem{{inner.x, inner.y}, {inner.right(), inner.bottom()}, theme.canvas, 1.5F});
        scene.add(figure::LineItem{{inner.x, inner.bottom()}, {inner.right(), inner.y}, theme.canvas, 1.5F});
    } else {
        const float half = std::floor(area.h / 2);
        scene.add(figure::RectItem{.area = {area.x, area.bottom() - half, area.w, half}, .fill = theme.ink});
    }
}

struct MarkKind {
    Message says;
    bool (*fits)(const HeadEdits&);
    void (*draw)(Picture&, const DrawContext&, const figure::Rect&);
};

constexpr MarkKind mark_kinds[] = {
    {translatable("edit_marks.ablated", "ablated"), [](const HeadEdits& edits) { return edits.ablated(); },
     [](Picture& picture, const DrawContext& context, const figure::Rect& area) {
         draw_square(picture, context.theme, area, true);
     }},
    {translatable("edit_marks.gain_changed", "head gain changed"),
     [](const HeadEdits& edits) { return edits.scaled(); },
     [](Picture& picture, const DrawContext& context, const figure::Rect& area) {
         draw_square(picture, context.theme, area, false);
     }},
    {translatable("edit_marks.weights_edited", "weights edited"),
     [](const HeadEdits& edits) { return !edits.tensors.empty(); },
     [](Picture& picture, const DrawContext& context, const figure::Rect& area) {
         draw_edited_diamond(picture, context, {area.x + area.w / 2, area.y + area.h / 2}, area.w);
     }}};

} // namespace

void draw_edited_diamond(Picture& picture, const DrawContext& context, figure::Point middle, float size) {
    const auto diamond = [&](float reach, figure::Color colour) {
        picture.scene.add(figure::PolygonItem{{{middle.x, middle.y - reach},
                                               {middle.x + reach, middle.y},
                                               {middle.x, middle.y + reach},
                                               {middle.x - reach, middle.y}},
                                              colour});
    };
    diamond(size / 2 + 2.5F, context.theme.canvas);
    diamond(size / 2 + 0.5F, context.theme.ink);
}

void draw_edit_marks(Picture& picture, const DrawContext& context, const figure::Rect& map,
                     const HeadEdits& edits) {
    const auto [size, beside] = mark_places(map);
    figure::Point at{map.x, map.y};
    for (const MarkKind& kind : mark_kinds)
        if (kind.fits(edits)) {
            kind.draw(picture, context, {at.x, at.y, size, size});
            (beside ? at.x : at.y) += size + 2;
        }
}

float edit_marks_width(const figure::Rect& map, const HeadEdits& edits) {
    const auto [size, beside] = mark_places(map);
    constexpr float text_height = 12;
    if (beside && size < (map.h - text_height) / 2)
        return 0;
    const auto marks =
        std::ranges::count_if(mark_kinds, [&](const MarkKind& kind) { return kind.fits(edits); });
    return beside ? static_cast<float>(marks) * (size + 2) : size + 2;
}

std::string edits_text(const HeadEdits& edits) {
    if (!edits.any())
        return {};
    const std::string gain = number(static_cast<double>(edits.gain), 2);
    std::string text = edits.gain == 1.0F ? std::string()
                       : edits.ablated()  ? tr("edit_marks.gain_ablated", "head gain {}, ablated", gain)
                                          : tr("common.gain", "head gain {}", gain);
    std::string names;
    for (const TensorId id : edits.tensors)
        names += (names.empty() ? "" : ", ") + std::string(tensor_info(id).name);
    text += text.empty() || names.empty() ? names : "; " + names;
    return tr("edit_marks.edited", "Edited: {}", text);
}

void draw_marks_legend(Picture& picture, const DrawContext& context, float x, float y, float width,
                       const std::vector<const HeadEdits*>& heads) {
    constexpr float line = 20, text_size = 12;
    float at = x;
    for (const MarkKind& kind : mark_kinds) {
        if (std::ranges::none_of(heads, [&](const HeadEdits* edits) { return kind.fits(*edits); }))
            continue;
        const std::string says = tr(kind.says);
        const float wide = largest_mark + 7 + context.measure(says, figure::Font::ui, text_size);
        if (at > x && at + wide > x + width) {
            at = x;
            y += line;
        }
        kind.draw(picture, context, {at, y + (line - largest_mark) / 2, largest_mark, largest_mark});
        draw_text(picture, context, at + largest_mark + 7, figure::baseline_for(y + line / 2, text_size),
                  says, figure::Font::ui, text_size, context.theme.text);
        at += wide + 18;
    }
    picture.scene.height = std::max(picture.scene.height, y + line + 8);
}

const LayerMarks* layer_marks(const DrawContext& context, std::int64_t l) {
    const CheckpointLayer* const open = context.shown.document->checkpoint();
    if (open == nullptr)
        return nullptr;
    const checkpoint::ModelConfig& config = open->part->config();
    const checkpoint::Stack stack = context.view.attention.stack;
    if (l >= in_stack(config, stack).layers)
        return nullptr;
    const auto found = open->part->marks.find(attention_number(config, {stack, l}));
    return found == open->part->marks.end() ? nullptr : &found->second;
}

const HeadEdits* head_edits(const DrawContext& context, std::int64_t l, std::int64_t h) {
    const LayerMarks* const marks = layer_marks(context, l);
    if (marks == nullptr || static_cast<std::size_t>(h) >= marks->heads.size())
        return nullptr;
    const HeadEdits& edits = marks->heads[static_cast<std::size_t>(h)];
    return edits.any() ? &edits : nullptr;
}

std::vector<const HeadEdits*> edited_heads(const DrawContext& context, std::int64_t L, std::int64_t H) {
    std::vector<const HeadEdits*> edited;
    for (std::int64_t l = 0; l < L; ++l)
        for (std::int64_t h = 0; h < H; ++h)
            if (const HeadEdits* const edits = head_edits(context, l, h))
                edited.push_back(edits);
    return edited;
}

std::shared_ptr<const std::vector<HeadEdits>> edits_by_head(const DrawContext& context) {
    using Marks = std::vector<HeadEdits>;
    const Document& document = *context.shown.document;
    const auto compute = [&] {
        return document.unedited == nullptr || document.unedited->dims != document.problem.dims
                   ? Marks(static_cast<std::size_t>(document.problem.dims.H))
                   : marks_of(document.problem, *document.unedited).heads;
    };
    if (context.pixels == nullptr)
        return std::make_shared<const Marks>(compute());
    constexpr std::uint64_t kind = 3;
    return context.pixels->cached_result<Marks>(context.shown.document, key_of({kind}), compute);
}

} // namespace headscope::app
