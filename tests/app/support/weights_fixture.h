#pragma once

#include "app/draw/pages/pages.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace headscope::test {

using namespace headscope::app;

/// A document with attention weights from a formula, for views that only show weights. Scores are their
/// logarithms; everything else is absent.
struct WeightsFixture {
    std::int64_t H = 2;
    std::vector<std::string> queries{"The", "cat", "sat", "down"};
    std::vector<std::string> keys; ///< empty: self-attention
    bool causal = false;
    std::int64_t masked_query = -1; ///< may attend to nothing, in every head
    std::vector<std::string> roles;

    /// Returns the score of key j for query i in head h. By default it is largest h positions before the
    /// query, with some spread.
    std::function<double(std::int64_t h, std::int64_t i, std::int64_t j)> score =
        [](std::int64_t h, std::int64_t i, std::int64_t j) {
            const auto d = static_cast<double>(std::max<std::int64_t>(i - h, 0) - j);
            return -1.1 * d * d + 0.7 * std::sin(static_cast<double>(3 * i + 5 * j + h));
        };

    Shown make() const {
        const auto Tq = static_cast<std::int64_t>(queries.size());
        const auto Tk = keys.empty() ? Tq : static_cast<std::int64_t>(keys.size());
        auto document = std::make_shared<Document>();
        Problem& problem = document->problem;
        problem.dims = {
            .B = 1, .Tq = Tq, .Tk = Tk, .D = 2 * H, .Dkv = 2 * H, .H = H, .Hkv = H, .dk = 2, .dv = 2};
        problem.tokens = queries;
        problem.x = std::make_shared<const Tensor>(Shape{1, Tq, 2 * H}, 0.0F);
        if (!keys.empty()) {
            problem.kv_tokens = keys;
            problem.x_kv = std::make_shared<const Tensor>(Shape{1, Tk, 2 * H}, 0.0F);
        }
        document->kind = Experiment{.head_roles = roles};
        auto trace = std::make_shared<Trace>();
        trace->dims = problem.dims;
        Tensor weights({1, H, Tq, Tk}), masked({1, H, Tq, Tk}), mean({1, Tq, Tk}, 0.0F);
        for (std::int64_t h = 0; h < H; ++h)
            for (std::int64_t i = 0; i < Tq; ++i) {
                double sum = 0;
                for (std::int64_t j = 0; j < Tk; ++j) {
                    const bool hidden = i == masked_query || (causal && j > i + Tk - Tq);
                    masked.at(0, h, i, j) = hidden ? -INFINITY : static_cast<float>(score(h, i, j));
                    sum += std::exp(static_cast<double>(masked.at(0, h, i, j)));
                }
                for (std::int64_t j = 0; j < Tk; ++j) {
                    const double e = std::exp(static_cast<double>(masked.at(0, h, i, j)));
                    weights.at(0, h, i, j) = sum > 0 ? static_cast<float>(e / sum) : 0.0F;
                    mean.at(0, i, j) += weights.at(0, h, i, j) / static_cast<float>(H);
                }
                if (sum == 0)
                    trace->fully_masked.push_back({0, h, i});
            }
        trace->slot(TensorId::masked) = std::make_shared<const Tensor>(std::move(masked));
        trace->slot(TensorId::weights) = std::make_shared<const Tensor>(std::move(weights));
        trace->slot(TensorId::weights_mean) = std::make_shared<const Tensor>(std::move(mean));
        Shown shown;
        shown.document = document;
        shown.trace = trace;
        return shown;
    }

    /// Returns the first `count` words of a long sentence, some of them long, some equal.
    static std::vector<std::string> sentence(std::size_t count) {
        static const std::vector<std::string> words{"The",
                                                    "storm",
                                                    "closed",
                                                    "the",
                                                    "harbour",
                                                    "at",
                                                    "noon",
                                                    ".",
                                                    "Anna",
                                                    "called",
                                                    "Tom",
                                                    ",",
                                                    "and",
                                                    "then",
                                                    "misunderstanding",
                                                    "when",
                                                    "storm",
                                                    "ended",
                                                    "Donaudampfschifffahrt",
                                                    "again"};
        std::vector<std::string> out;
        for (std::size_t i = 0; i < count; ++i)
            out.push_back(words[i % words.size()]);
        return out;
    }
};

/// Returns widths about as wide as in the program's fonts.
inline float rough_measure(std::string_view text, figure::Font font, float size) {
    const bool mono = font == figure::Font::mono || font == figure::Font::mono_semibold;
    const auto points = static_cast<float>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
    return points * size * (mono ? 0.6F : 0.56F);
}

inline ViewState weights_view(WeightsView as) {
    ViewState view;
    view.group = StageGroup::weights;
    view.weights_view = as;
    return view;
}

inline Picture draw_page(const Shown& shown, const ViewState& view, float width = 960, float height = 848) {
    const DrawContext context{shown, view, theme(view.dark), rough_measure, width, height};
    switch (view.weights_view) {
    case WeightsView::arcs:
        return draw_arcs_page(context);
    case WeightsView::text:
        return draw_text_page(context);
    case WeightsView::graph:
        return draw_graph_page(context);
    case WeightsView::heatmap:
        break;
    }
    Picture picture;
    picture.scene.width = width;
    picture.scene.height = height;
    draw_what_row_reads(picture, context, 500, height - 508);
    return picture;
}

} // namespace headscope::test
