#include "app/draw/pages/figure_weights.h"

#include "app/draw/kit/colour_scale.h"
#include "app/draw/kit/format.h"
#include "app/draw/pages/attention_pages.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headscope::app {

FigureWeights::FigureWeights(const DrawContext& context, HeadsView kind, std::int64_t head)
    : context_(&context), kind_(kind), batch_(context.view.batch), head_(head),
      other_(context.view.compared_head) {}

float FigureWeights::at(std::int64_t i, std::int64_t j) const {
    const Shown& shown = context_->shown;
    switch (kind_) {
    case HeadsView::each:
        return shown.value({TensorId::weights, {batch_, head_, i, j}});
    case HeadsView::difference:
        return shown.value({TensorId::weights, {batch_, head_, i, j}}) -
               shown.value({TensorId::weights, {batch_, other_, i, j}});
    case HeadsView::mean:
        return shown.value({TensorId::weights_mean, {batch_, i, j, 0}});
    }
    return 0;
}

std::span<const float> FigureWeights::stored_weights() const {
    if (kind_ == HeadsView::difference)
        return {};
    const Tensor& all = *context_->shown.tensor(address(0, 0).tensor);
    const std::int64_t cells = context_->dims().Tq * context_->dims().Tk,
                       first = kind_ == HeadsView::mean ? all.offset(batch_, 0, 0)
                                                        : all.offset(batch_, head_, 0, 0);
    return all.values().subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(cells));
}

template<class InHead>
bool FigureWeights::in_all_heads(const InHead& in_head) const {
    switch (kind_) {
    case HeadsView::each:
        return in_head(head_);
    case HeadsView::difference:
        return in_head(head_) && in_head(other_);
    case HeadsView::mean:
        for (std::int64_t h = 0; h < context_->dims().H; ++h)
            if (!in_head(h))
                return false;
        return true;
    }
    return false;
}

bool FigureWeights::masked(std::int64_t i, std::int64_t j) const {
    const bool given = context_->shown.document->shows_weights();
    const Tensor* scores = context_->shown.tensor(TensorId::masked);
    if (scores == nullptr && !given)
        return false;
    return in_all_heads([&](std::int64_t h) {
        return given ? is_without_value(*context_, h, i, j) : std::isinf(scores->at(batch_, h, i, j));
    });
}

bool FigureWeights::is_fully_masked(std::int64_t i) const {
    const auto& rows = context_->shown.trace->fully_masked;
    return in_all_heads([&](std::int64_t h) {
        return std::ranges::binary_search(rows, std::array{batch_, h, i}, {}, [](const MaskedRow& row) {
            return std::array{row.b, row.h, row.i};
        });
    });
}

std::int64_t FigureWeights::largest(std::int64_t i) const {
    std::int64_t best = 0;
    for (std::int64_t j = 1; j < context_->dims().Tk; ++j)
        if (std::abs(at(i, j)) > std::abs(at(i, best)))
            best = j;
    return best;
}

CellAddress FigureWeights::address(std::int64_t i, std::int64_t j) const {
    if (kind_ == HeadsView::mean)
        return {TensorId::weights_mean, {batch_, i, j, 0}};
    return {TensorId::weights, {batch_, head_, i, j}};
}

std::string FigureWeights::title() const {
    switch (kind_) {
    case HeadsView::each: {
        const float gain = context_->shown.problem().gain(head_);
        return head_title(*context_, head_) + (gain == 1.0F ? "" : " × " + number(gain, 2));
    }
    case HeadsView::difference:
        return pair_word(*context_, head_, other_);
    case HeadsView::mean:
        return mean_word(*context_);
    }
    return {};
}

std::string FigureWeights::role() const {
    const auto& roles = context_->shown.document->head_roles();
    switch (kind_) {
    case HeadsView::each:
        // While a newer trace is computed, the screen may have fewer heads than the selected index.
        return static_cast<std::size_t>(head_) < roles.size() ? roles[static_cast<std::size_t>(head_)] : "";
    case HeadsView::difference:
        return tr("reading.weight_one_minus_weight", "weight in the one minus weight in the other");
    case HeadsView::mean:
        return tr("reading.weights_averaged_over_all", "weights averaged over all heads");
    }
    return {};
}

std::string FigureWeights::text(float value) const {
    return kind_ == HeadsView::difference ? signed_number(value, 2) : number(value, 2);
}

figure::Color FigureWeights::line_color(float value) const {
    const Theme& theme = context_->theme;
    switch (kind_) {
    case HeadsView::each:
        return context_->head_colours(head_).colour;
    case HeadsView::difference:
        return ramp_color(theme.diverging, value < 0 ? 0.0F : 1.0F);
    case HeadsView::mean:
        return theme.muted;
    }
    return theme.muted;
}

figure::Color FigureWeights::cell_color(float value, float end) const {
    end = std::max(end, 1e-6F);
    if (kind_ == HeadsView::difference)
        return ramp_color(ramp(), 0.5F + 0.5F * value / end);
    return ramp_color(ramp(), position_on_scale(value, 0, end, log_colours()));
}

bool FigureWeights::log_colours() const {
    return kind_ != HeadsView::difference && context_->log_colours();
}

const Ramp& FigureWeights::ramp() const {
    const Theme& theme = context_->theme;
    switch (kind_) {
    case HeadsView::each:
        return context_->head_ramp(head_);
    case HeadsView::difference:
        return theme.diverging;
    case HeadsView::mean:
        return theme.neutral;
    }
    return theme.neutral;
}

void FigureWeights::add_cell(Picture& picture, std::int64_t i, std::int64_t j, const figure::Rect& area,
                             float end) const {
    const CellAddress cell = address(i, j);
    const bool mean = kind_ == HeadsView::mean, difference = kind_ == HeadsView::difference;
    picture.grids.push_back({.tensor = cell.tensor,
                             .origin = cell.at,
                             .row_axis = mean ? 1 : 2,
                             .col_axis = mean ? 2 : 3,
                             .rows = 1,
                             .cols = 1,
                             .area = area,
                             .pitch_x = area.w,
                             .pitch_y = area.h,
                             .map = name_of(ramp(), context_->theme),
                             .low = difference      ? -end
                                    : log_colours() ? log_scale_low(end)
                                                    : 0.0F,
                             .high = end,
                             .shows_own_values = !difference});
}

FigureWeights focused_figure_weights(const DrawContext& context) {
    return {context, context.view.heads_view, context.view.head};
}

std::vector<FigureWeights> figure_weights_of(const DrawContext& context) {
    if (context.view.heads_view != HeadsView::each || context.shown.document->has_head_grid())
        return {focused_figure_weights(context)};
    std::vector<FigureWeights> out;
    for (std::int64_t h = 0; h < context.dims().H; ++h)
        out.emplace_back(context, HeadsView::each, h);
    return out;
}

FocusedCell focused_cell(const DrawContext& context) {
    FocusedCell place{context.view.row >= 0 ? context.view.row : 2, -1};
    if (const auto cell = current_cell(context.shown, context.view)) {
        const TensorInfo& info = tensor_info(cell->tensor);
        for (int axis = 0; axis < info.rank(); ++axis) {
            const std::int64_t at = cell->at[static_cast<std::size_t>(axis)];
            if (info.axes[static_cast<std::size_t>(axis)] == Axis::Tq)
                place.row = at;
            if (info.axes[static_cast<std::size_t>(axis)] == Axis::Tk)
                place.key = at;
        }
    }
    place.row = std::clamp<std::int64_t>(place.row, 0, context.dims().Tq - 1);
    return place;
}

float scale_end(const DrawContext& context, const std::vector<FigureWeights>& readings) {
    float largest = 0;
    for (const FigureWeights& reading : readings)
        for (std::int64_t i = 0; i < context.dims().Tq; ++i)
            for (std::int64_t j = 0; j < context.dims().Tk; ++j)
                largest = std::max(largest, std::abs(reading.at(i, j)));
    return std::clamp(std::ceil(largest * 10.0F - 1e-3F) / 10.0F, 0.1F, 1.0F);
}

LinkThresholds link_thresholds(const Dims& dims) {
    const float alike = 1.0F / static_cast<float>(dims.Tk);
    for (const float step : {0.10F, 0.05F, 0.02F, 0.01F})
        if (alike >= step)
            return {step, step == 0.10F ? 0.10F : 0.20F};
    return {0.01F, 0.20F};
}

std::vector<Link> links_of(const FigureWeights& reading, std::int64_t focused_row) {
    const DrawContext& context = reading.context();
    const LinkThresholds least = link_thresholds(context.dims());
    std::vector<Link> lasting, extra;
    for (std::int64_t i = 0; i < context.dims().Tq; ++i) {
        const bool strong = i == focused_row;
        if (!strong && context.view.row >= 0 && i > context.view.row)
            continue;
        for (std::int64_t j = 0; j < context.dims().Tk; ++j) {
            const float value = reading.at(i, j);
            // The float 1/Tk may be slightly below its own threshold.
            const auto reaches = [&](float threshold) { return std::abs(value) >= threshold - 1e-6F; };
            if (!reaches(strong ? least.focused : least.others))
                continue;
            (reaches(least.others) ? lasting : extra).push_back({i, j, value, strong});
        }
    }
    lasting.insert(lasting.end(), extra.begin(), extra.end());
    return lasting;
}

} // namespace headscope::app
