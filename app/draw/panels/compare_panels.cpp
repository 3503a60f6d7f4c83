#include "app/draw/panels/compare_panels.h"

#include "app/commands/actions.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/pages/attention_pages.h"
#include "app/state/model_document.h"
#include "core/analysis/checkpoints/checkpoint_comparison.h"
#include "core/base/message.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>

namespace headscope::app {

namespace {

constexpr std::size_t most_listed = 8;
constexpr float number_width = 76, listed_row = 22;

/// The change as the atlas writes it; "∞" if A is 0.
std::string change_text(const std::optional<double>& change) {
    if (!change)
        return "∞";
    return score_text(analysis::HeadScore::parameter_change, static_cast<float>(*change));
}

/// The name of a tensor without ".weight", and as much of its end as fits: names differ at the end.
std::string short_tensor_name(const DrawContext& context, std::string name, float width) {
    constexpr std::string_view ending = ".weight";
    if (name.ends_with(ending))
        name.resize(name.size() - ending.size());
    std::string shown = name;
    for (std::size_t dot = name.find('.');
         dot != std::string::npos && context.measure(shown, figure::Font::mono, 12) > width;
         dot = name.find('.')) {
        name.erase(0, dot + 1);
        shown = "…" + name;
    }
    return shown;
}

/// Returns the tensor of the strip for a parameter; of one that holds several tensors, the first.
std::optional<TensorId> tensor_on_strip(TensorId weight) {
    switch (weight) {
    case TensorId::W_QKV:
    case TensorId::W_QG:
        return TensorId::W_Q;
    case TensorId::b_QKV:
    case TensorId::b_QG:
        return TensorId::b_Q;
    case TensorId::W_UKV:
        return TensorId::W_K;
    case TensorId::mlp_gate_in:
        return TensorId::W_gate;
    case TensorId::experts_gate_in:
        return TensorId::expert_W_gate;
    case TensorId::experts_gate_in_bias:
        return TensorId::expert_b_gate;
    default:
        return checkpoint::is_editable_weight(weight) ? std::optional(weight) : std::nullopt;
    }
}

void draw_changed_tensor(Sheet& sheet, const analysis::ChangedTensor& tensor,
                         const checkpoint::ModelConfig& config) {
    const Theme& theme = sheet.context.theme;
    const std::string relative = change_text(tensor.difference.numbers.relative());
    const std::optional<TensorId> shown =
        tensor.parameter ? tensor_on_strip(tensor.parameter->weight) : std::nullopt;
    const float width = sheet.width() - number_width;
    sheet.put(sheet.left, short_tensor_name(sheet.context, tensor.difference.name, width), width,
              figure::Font::mono, 12, theme.text);
    sheet.put(sheet.right, relative, number_width, figure::Font::mono, 12, theme.ink, figure::Align::right);
    if (shown) {
        const TensorId id = shown.value_or(TensorId::x); // GCC 12 takes *shown for uninitialized
        sheet.row_spot("changed tensor " + tensor.difference.name,
                       ShowTensor{id, attention_place(config, tensor.parameter->attention)},
                       tr("changed_panel.go_tensor", "{}: go to {}", tensor.difference.name,
                          tr(group_info(tensor_info(id).group).title)));
    }
    sheet.y += listed_row;
}

/// The heads whose parameters changed most; of equal ones those whose attention weights changed most.
std::vector<const analysis::HeadChange*> most_changed(const std::vector<analysis::HeadChange>& all) {
    std::vector<const analysis::HeadChange*> heads;
    for (const analysis::HeadChange& head : all)
        if (head.parameters != 0.0 || head.attention > 0)
            heads.push_back(&head);
    const auto key = [](const analysis::HeadChange* head) {
        return std::tuple(head->parameters.value_or(std::numeric_limits<double>::infinity()),
                          head->attention);
    };
    std::ranges::stable_sort(heads, std::ranges::greater(), key);
    heads.resize(std::min(heads.size(), most_listed));
    return heads;
}

void draw_changed_heads(Sheet& sheet, const RunSpec& part, const std::vector<analysis::HeadChange>& all) {
    const DrawContext& context = sheet.context;
    const Theme& theme = context.theme;
    const auto columns = [&](const std::string& name, const std::string& parameters,
                             const std::string& attention, figure::Font font, figure::Color color) {
        sheet.put(sheet.left, name, sheet.width() - 2 * number_width, font, 12, theme.text);
        sheet.put(sheet.right - number_width, parameters, number_width + 12, font, 12, color,
                  figure::Align::right);
        sheet.put(sheet.right, attention, number_width - 8, font, 12, color, figure::Align::right);
    };
    columns(tr("common.head_2", "head"), tr("changed_panel.parameters", "parameters"),
            tr("changed_panel.attention", "attention"), figure::Font::ui, theme.muted);
    sheet.picture.tips.push_back({{sheet.left, sheet.y, sheet.width(), listed_row},
                                  tr(analysis::info_of(analysis::HeadScore::parameter_change).formula) +
                                      "\n" +
                                      tr(analysis::info_of(analysis::HeadScore::attention_change).formula)});
    sheet.y += listed_row;
    for (const analysis::HeadChange* const head : most_changed(all)) {
        const std::string name = attention_name(part, head->place) + " H" + std::to_string(head->head);
        columns(name, change_text(head->parameters), change_text(head->attention), figure::Font::mono,
                theme.ink);
        sheet.row_spot("changed head " + name, ShowTensor{TensorId::weights, head->place, head->head},
                       tr("changed_panel.go_head", "Go to the attention weights of {}", name));
        sheet.y += listed_row;
    }
}

} // namespace

void add_baseline_buttons(Sheet& sheet) {
    const DrawContext& context = sheet.context;
    const Comparison* compare = context.compare;
    const bool marked = compare != nullptr && compare->marked();
    sheet.section(tr("common.compare", "Compare"), "B − A");
    sheet.put(sheet.left,
              marked ? "A: " + compare->name()
                     : tr("compare_panels.b_edit_stays", "Edits change B; A stays as it is."),
              sheet.width(), figure::Font::ui, 13, context.theme.text);
    sheet.y += Sheet::row_height + 4;
    const float width = (sheet.width() - 12) / 2;
    const figure::Rect first{sheet.left, sheet.y, width, 34};
    const figure::Rect second{sheet.left + width + 12, sheet.y, width, 34};
    draw_button(sheet.picture, context, first, tr("compare_panels.mark", "Mark as A"), MarkBaseline{}, false,
                with_key(tr("common.now_screen", "Marks the numbers on screen as A"), "mark baseline"));
    if (marked)
        draw_button(sheet.picture, context, second, tr("compare_panels.forget", "Forget A"), DropBaseline{},
                    false, tr("compare_panels.stop_comparing", "Stop comparing"));
    else
        draw_button(sheet.picture, context, second, tr("compare_panels.built", "A: as built"),
                    MarkBaseline{true}, false,
                    tr("compare_panels.problem_without_edits",
                       "A is this problem without edits, head gains and temperature"));
    sheet.y += 34 + 10;
    const bool flashes = context.view.flashes();
    draw_text_button(
        sheet.picture, context, sheet.left, sheet.y,
        tr("compare_panels.flash_changes", "Flash changed cells"), flashes, SetFlash{!flashes},
        tr("compare_panels.outline_cells_edit", "Briefly outlines the cells that an edit changed"));
    sheet.y += 24 + 8;
}

void mark_baseline_line(Sheet& sheet, const figure::Rect& area) {
    constexpr float dash = 5, space = 4;
    for (float x = area.x; x < area.right(); x += dash + space)
        sheet.picture.scene.add(figure::LineItem{
            {x, area.y}, {std::min(x + dash, area.right()), area.y}, sheet.context.theme.muted, 1});
}

std::optional<HeadChange> change_of_head(const DrawContext& context, std::int64_t head) {
    if (context.compare == nullptr)
        return std::nullopt;
    const analysis::TensorDifference* change = context.compare->of(tensor_compared_by_head(context.view));
    if (change == nullptr || change->head_norms.empty())
        return std::nullopt;
    const auto groups = static_cast<std::int64_t>(change->head_norms.size());
    const std::int64_t g = head / (context.dims().H / groups);
    return HeadChange{change->head_norms[static_cast<std::size_t>(g)], std::ranges::max(change->head_norms)};
}

void add_most_changed(Sheet& sheet) {
    const DrawContext& context = sheet.context;
    const Shown& b = context.compare != nullptr && context.showing != Compare::now ? context.compare->now()
                                                                                   : context.shown;
    if (!b.document->is_checkpoint() || b.document->part()->compared == nullptr)
        return;
    const RunSpec& part = *b.document->part();
    const analysis::CheckpointComparison& compared = *part.compared;
    // Translators: the heading of a list of tensors and heads
    sheet.section(tr("changed_panel.changed_most", "Changed most"), "B: " + compared.name);
    sheet.paragraph(
        tr("changed_panel.of_tensors",
           "{} of {} tensors differ from A. Listed by the Frobenius norm of B − A over that of A.",
           grouped(std::ssize(compared.changed)), grouped(compared.tensors)),
        context.theme.text);
    for (std::size_t n = 0; n < std::min(compared.changed.size(), most_listed); ++n)
        draw_changed_tensor(sheet, compared.changed[n], part.config());
    sheet.y += 8;
    if (b.head_changes == nullptr) {
        sheet.paragraph(
            checkpoint::is_patched(part.edits)
                ? tr("changed_panel.patched", "A run with a patched activation is not compared head by head.")
                : tr("changed_panel.heads_compared", "The heads are being compared."),
            context.theme.muted);
        return;
    }
    draw_changed_heads(sheet, part, *b.head_changes);
    sheet.y += 6;
    draw_text_button(
        sheet.picture, context, sheet.left, sheet.y,
        tr("changed_panel.all_heads", "All heads by their change"), false,
        AttentionChange(AtlasChange(ListHeadChanges{})),
        tr("changed_panel.all_heads_tip", "Lists every head in the atlas, the largest change first"));
    sheet.y += 24 + 24;
}

} // namespace headscope::app
