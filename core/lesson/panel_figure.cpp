#include "core/lesson/panel_figure.h"

#include "core/analysis/heads/head_metrics.h"
#include "core/analysis/heads/merged_heads.h"
#include "core/attention/regroup.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"

#include <algorithm>
#include <cmath>

namespace headscope::lesson {

namespace {

/// Work that takes a few milliseconds, so that dragging a knob stays smooth.
constexpr std::int64_t most_flops = 100'000'000;
constexpr int curve_steps = 20;

/// `count(T)` for every power of two T up to longest_text.
template<class Count>
Curve over_lengths(const Count& count) {
    Curve curve;
    for (std::int64_t T = 1; T <= longest_text; T *= 2)
        curve.emplace_back(static_cast<double>(T), static_cast<double>(count(T)));
    return curve;
}

Dims layer_of(std::int64_t T, std::int64_t D, std::int64_t H, std::int64_t Hkv, std::int64_t width) {
    return {.B = 1, .Tq = T, .Tk = T, .D = D, .Dkv = D, .H = H, .Hkv = Hkv, .dk = width, .dv = width};
}

CostFigure cost_figure(std::int64_t T, std::int64_t D, std::int64_t H, std::int64_t Hkv) {
    const auto cost = [&](std::int64_t length) { return cost_of(layer_of(length, D, H, Hkv, D / H), false); };
    const Cost one = cost(1);
    return {.dims = layer_of(T, D, H, Hkv, D / H),
            .cost = cost(T),
            .full_width = cost_of(layer_of(T, D, H, Hkv, D), false),
            // Projections grow with T, attention with T squared.
            .crossing = static_cast<double>(one.projection_flops) / static_cast<double>(one.attention_flops),
            .projections = over_lengths([&](std::int64_t length) { return cost(length).projection_flops; }),
            .attention = over_lengths([&](std::int64_t length) { return cost(length).attention_flops; })};
}

CacheFigure cache_figure(CacheFigure figure, std::int64_t Hkv) {
    const Dims dims{.H = figure.H, .Hkv = Hkv, .dk = figure.dk, .dv = figure.dk};
    for (const CacheVariant& variant : cache_variants(dims, figure.latent)) {
        const auto kept = [&](std::int64_t length) {
            return figure.layers * variant.numbers * length * figure.bytes;
        };
        figure.rows.push_back({variant, kept(1), kept(figure.T), over_lengths(kept)});
    }
    return figure;
}

void demand_small(const Problem& problem, std::int64_t runs) {
    if (cost_of(problem.dims, false).flops() > most_flops / runs)
        fail_input(tr("panel_figure.problem_too_large_panel",
                      "this problem is too large for the panel, which recomputes on every mouse move; type a "
                      "shorter sentence"));
}

MergeFigure blur_figure(const MergePanel& panel, double share, const Problem& on_screen,
                        engine::Engine& engine) {
    demand_small(on_screen, curve_steps + 2);
    const Problem problem =
        panel.H == 0 || panel.H == on_screen.dims.H ? on_screen : with_head_count(on_screen, panel.H);
    const std::int64_t Tk = problem.dims.Tk;
    MergeFigure figure;
    figure.row = query_row(panel.row, problem);
    for (std::int64_t j = 0; j < Tk; ++j)
        figure.words.push_back(problem.key_label(j));
    const auto heads_at = [&](double merged) {
        Progress progress;
        const Trace trace =
            engine.run(analysis::merged_heads(problem, panel.heads, static_cast<float>(merged)),
                       StageSet().with(TensorId::weights), progress);
        const Tensor& weights = *trace.stage(TensorId::weights);
        std::vector<MergeFigure::Head> heads;
        for (std::size_t i = 0; i < panel.heads.size(); ++i) {
            const float* first =
                weights.data() + weights.offset(0, static_cast<std::int64_t>(i), figure.row, 0);
            MergeFigure::Head head{.head = panel.heads[i], .weights = {first, first + Tk}};
            head.entropy = analysis::entropy_of(head.weights);
            head.top = std::ranges::max_element(head.weights) - head.weights.begin();
            heads.push_back(std::move(head));
        }
        return heads;
    };
    const auto mean_entropy = [](const std::vector<MergeFigure::Head>& heads) {
        double sum = 0;
        for (const MergeFigure::Head& head : heads)
            sum += head.entropy;
        return sum / static_cast<double>(heads.size());
    };
    figure.heads = heads_at(share);
    figure.entropy = mean_entropy(figure.heads);
    for (int i = 0; i <= curve_steps; ++i) {
        const double at = static_cast<double>(i) / curve_steps;
        const std::vector<MergeFigure::Head> heads = heads_at(at);
        figure.entropy_by_fraction.emplace_back(at, mean_entropy(heads));
        if (i == 0)
            for (std::size_t h = 0; h < heads.size(); ++h)
                figure.heads[h].top = heads[h].top;
    }
    return figure;
}

const LessonModel& of_model(const LessonModel* model) {
    if (model == nullptr)
        fail_input(
            tr("panel_figure.panel_reads_model_no", "this panel reads a model, and no model is on screen"));
    return *model;
}

} // namespace

PanelFigure compute_panel(const LessonPanel& panel, const Knobs& set, const Problem& problem,
                          const LessonModel* model, engine::Engine& engine) {
    const std::vector<Knob> knobs = knobs_of(panel, set);
    const auto value = [&](const char* name) { return std::ranges::find(knobs, name, &Knob::name)->value; };
    const auto whole = [&](const char* name) { return static_cast<std::int64_t>(value(name)); };
    return std::visit(
        Overloaded{[&](const CostPanel&) {
                       return PanelFigure(cost_figure(whole("T"), whole("D"), whole("H"), whole("Hkv")));
                   },
                   [&](const CachePanel& p) {
                       return PanelFigure(cache_figure({.layers = whole("layers"),
                                                        .H = whole("H"),
                                                        .dk = whole("dk"),
                                                        .latent = p.latent > 0 ? whole("latent") : 0,
                                                        .T = whole("T"),
                                                        .bytes = whole("bytes"),
                                                        .rows = {}},
                                                       whole("Hkv")));
                   },
                   [&](const MergePanel& p) {
                       return PanelFigure(blur_figure(p, value("merged"), problem, engine));
                   },
                   [&](const LoopPanel&) {
                       demand_small(problem, 2);
                       return PanelFigure(LoopFigure{problem.dims, analysis::compare_projections(problem)});
                   },
                   [&](const SamplingPanel& p) {
                       SamplingPanel turned = p;
                       turned.temperature = value("temperature");
                       turned.top_k = whole("top_k");
                       turned.top_p = value("top_p");
                       return PanelFigure(sampling_figure(of_model(model), turned));
                   },
                   [&](const HeadsPanel& p) { return PanelFigure(heads_figure(of_model(model), p)); },
                   [&](const PathPanel& p) { return PanelFigure(path_figure(of_model(model), p)); },
                   [&](const PositionsPanel& p) {
                       PositionsPanel turned = p;
                       turned.query = whole("query");
                       turned.key = whole("key");
                       turned.pair = whole("pair");
                       return PanelFigure(positions_figure(turned));
                   }},
        panel.kind);
}

} // namespace headscope::lesson
