#include "app/draw/atlas/atlas_parts.h"
#include "app/draw/kit/colour_scale.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/pages/attention_pages.h"
#include "app/draw/prompts/mean_text.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

/// The smallest round number that is at least `size`: 1, 2, 2.5 or 5 times a power of ten.
double round_step(double size) {
    const double power = std::pow(10.0, std::floor(std::log10(size)));
    for (const double factor : {1.0, 2.0, 2.5, 5.0})
        if (factor * power >= size)
            return factor * power;
    return 10 * power;
}

/// The value where asinh changes from linear to logarithmic, as a fraction of the axis.
constexpr double bend = 0.02;

double stretch(const ScoreAxis& axis, double value) {
    return axis.asinh_scale ? std::asinh(value / (bend * (axis.high - axis.low))) : value;
}

} // namespace

double ScoreAxis::place(double value) const {
    const double from = stretch(*this, low), to = stretch(*this, high);
    return std::clamp((stretch(*this, value) - from) / (to - from), 0.0, 1.0);
}

double ScoreAxis::value_at(double share) const {
    const double from = stretch(*this, low), to = stretch(*this, high), at = from + share * (to - from);
    return asinh_scale ? std::sinh(at) * bend * (high - low) : at;
}

ScoreAxis axis_of(const AtlasScene& scene, analysis::HeadScore score, bool stretched) {
    ScoreAxis axis{.low = 0, .high = 0, .asinh_scale = stretched};
    for (const auto& head : scene.atlas.heads)
        if (head && head->has(score) && std::isfinite((*head)[score])) {
            axis.low = std::min(axis.low, static_cast<double>((*head)[score]));
            axis.high = std::max(axis.high, static_cast<double>((*head)[score]));
        }
    if (scene.difference())
        axis.low = -(axis.high = std::max(axis.high, -axis.low));
    else if (!analysis::info_of(score).label.text.empty())
        axis.high = std::max(axis.high,
                             static_cast<double>(scene.view().thresholds[static_cast<std::size_t>(score)]));
    if (axis.high - axis.low < 1e-9) {
        axis.high = axis.low + 1;
        if (scene.difference()) // 0 is the middle of the diverging colors
            axis.low = -axis.high;
    }
    const double step = round_step((axis.high - axis.low) / 4);
    axis.low = std::floor(axis.low / step + 1e-6) * step;
    axis.high = std::ceil(axis.high / step - 1e-6) * step;
    for (double tick = axis.low; tick <= axis.high + step / 2; tick += step)
        axis.ticks.push_back(std::abs(tick) < step / 1e3 ? 0 : tick);
    // Enough decimals to distinguish the ticks: 0.25 needs one more than 0.2.
    while (axis.decimals < 5 && std::abs(std::round(step * std::pow(10.0, axis.decimals)) -
                                         step * std::pow(10.0, axis.decimals)) > 1e-6)
        ++axis.decimals;
    return axis;
}

AtlasScene::AtlasScene(const DrawContext& of_context, const Atlas& of_atlas)
    : context(of_context), atlas(of_atlas),
      resolved(resolve_atlas_view(atlas, context.view.attention.atlas, context.view.attention.pattern)) {
    if (context.shown.document->is_experiment())
        of_experiment_ = edits_by_head(context);
    const std::string_view spot = context.hovered;
    const std::size_t blank = spot.find(' ');
    if (blank == std::string_view::npos)
        return;
    const auto head = std::ranges::find(*atlas.names, spot.substr(blank + 1));
    under_mouse = head == atlas.names->end() ? -1 : head - atlas.names->begin();
}

std::optional<double> AtlasScene::score(std::int64_t l, std::int64_t h, analysis::HeadScore of) const {
    const auto& head = atlas.at(l, h);
    return head && head->has(of) ? std::optional(static_cast<double>((*head)[of])) : std::nullopt;
}

std::string AtlasScene::score_label(std::int64_t l, std::int64_t h, analysis::HeadScore of) const {
    const auto value = score(l, h, of);
    if (!value)
        return "–";
    const std::string text = score_text(of, static_cast<float>(*value));
    return difference() && *value > 0 ? "+" + text : text;
}

float AtlasScene::darkest_mark() const {
    return difference() ? symmetric_end(atlas.largest_change) : 1.0F;
}

std::string AtlasScene::label(std::int64_t l, std::int64_t h) const {
    const auto label = resolved.labels[static_cast<std::size_t>(l * atlas.H + h)];
    return label ? tr(analysis::info_of(*label).label.text) : std::string();
}

char AtlasScene::letter(std::int64_t l, std::int64_t h) const {
    const auto label = resolved.labels[static_cast<std::size_t>(l * atlas.H + h)];
    return label ? analysis::info_of(*label).label.letter : '-';
}

std::string AtlasScene::spread_after(std::int64_t l, std::int64_t h, analysis::HeadScore of) const {
    if (atlas.mean == nullptr)
        return {};
    const auto head = static_cast<std::size_t>(l * atlas.H + h);
    const std::string spread =
        spread_text(*atlas.mean, head * analysis::head_score_count + static_cast<std::size_t>(of));
    return spread.empty() ? "" : ", " + spread;
}

std::string AtlasScene::tip(std::int64_t l, std::int64_t h,
                            std::initializer_list<analysis::HeadScore> scores) const {
    if (!hovered(l, h))
        return {};
    const std::string called = label(l, h);
    std::string tip = name(l, h) + (called.empty() ? "" : ", " + called);
    for (const analysis::HeadScore of : scores)
        tip += "\n" + name_of(of) + " " + score_label(l, h, of) + spread_after(l, h, of);
    const HeadEdits* const edited = edits(l, h);
    return edited == nullptr ? tip : tip + "\n" + edits_text(*edited);
}

const HeadEdits* AtlasScene::edits(std::int64_t l, std::int64_t h) const {
    if (of_experiment_ == nullptr)
        return head_edits(context, l, h);
    const auto head = static_cast<std::size_t>(h);
    return head < of_experiment_->size() && (*of_experiment_)[head].any() ? &(*of_experiment_)[head]
                                                                          : nullptr;
}

std::string name_of(analysis::HeadScore score) {
    return tr(analysis::info_of(score).name);
}

std::string name_of(const AtlasScene& scene, analysis::HeadScore score) {
    return name_of(score) + (scene.difference() ? ", B − A" : "");
}

figure::Color score_color(const AtlasScene& scene, const ScoreAxis& axis, double score) {
    const Theme& theme = scene.context.theme;
    return ramp_color(scene.difference() ? theme.diverging : theme.head_background,
                      static_cast<float>(axis.place(score)));
}

const std::vector<LabelInfo>& atlas_labels() {
    static const std::vector<LabelInfo> all = [] {
        std::vector<LabelInfo> words;
        for (const Pattern& pattern : patterns())
            words.push_back({pattern.letter, pattern.label, pattern.meaning});
        return words;
    }();
    return all;
}

} // namespace headscope::app
