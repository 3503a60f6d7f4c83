#include "app/draw/block/block_strip.h"

#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

namespace {

using G = StageGroup;

constexpr float edge = 20, chip_height = 25, text_size = 12.5F, chip_pad = 9, chevron = 12, inset = 10;
constexpr float narrow_gap = 5, least_gap = 12, most_gap = 22;

/// A stop, the name of an open group, or a folded group.
struct Piece {
    std::string label;
    std::string count = {}; ///< of a folded group: its stops
    bool chip = false;
    bool strong = false;
    bool current = false;
    bool passed = true;
    int depth = 0; ///< 1: in the open group, 2: in an open group inside it
    std::optional<GoTo> action = {};
    std::string tip = {};
    std::string name = {}; ///< of the hotspot
};

bool is_delta(G stop) {
    return stop >= G::delta_qkv && stop <= G::delta_out;
}

bool is_mlp(G stop) {
    return (stop >= G::mlp_pre && stop <= G::mlp_out) || stop == G::mlp_sparse;
}

std::string layer_name(std::int64_t l) {
    return "L" + std::to_string(l);
}

constexpr std::ptrdiff_t all_stops = 100;

/// Folds more of the strip the higher `fold` is, 0 to 4. reach: how many stops on either side of the current
/// one the innermost open group has, if it has that many.
class Pieces {
public:
    Pieces(const ViewState& v, int f, std::ptrdiff_t reached = all_stops)
        : view(v), walk(v.step_strip), fold(f), reach(reached) {
        const std::vector<G>& open = walk.section_with(view.group);
        at_start = &open == &walk.before;
        at_end = &open == &walk.after;
        layer = at_start ? -1 : at_end ? walk.layers : view.attention.layer;
        if (fold >= 3 && !at_start)
            pieces.push_back({.label = "…",
                              .chip = true,
                              .action = before(),
                              .tip = tr("block_strip.embedding_layers_before",
                                        "The embedding and the earlier layers; click for the previous one"),
                              .name = "before"});
        else
            add_outer(translatable("common.embed", "embed"), walk.before, at_start, true);
        if (fold < 3 || at_start || at_end)
            add_layers(0, std::min(layer, walk.layers) - 1, !(fold >= 3 && !at_start));
        if (!at_start && !at_end)
            add_open_layer();
        if (fold < 3 || at_start || at_end)
            add_layers(std::max<std::int64_t>(layer + 1, 0), walk.layers - 1, !(fold >= 3 && !at_end));
        if (fold >= 3 && !at_end)
            pieces.push_back({.label = "…",
                              .chip = true,
                              .passed = false,
                              .action = after(),
                              .tip = tr("block_strip.layers_after_prediction",
                                        "The later layers and the prediction; click for the next one"),
                              .name = "after"});
        else if (!walk.after.empty())
            add_outer(walk.has(G::logits) ? translatable("block_strip.predict", "predict")
                                          : translatable("common.end", "end"),
                      walk.after, at_end, at_end);
    }

    std::vector<Piece> pieces;

private:
    GoTo before() const {
        if (at_end || layer > 0)
            return {at_end ? walk.layer.back() : view.group, -1, layer - 1};
        return {walk.before.back()};
    }
    GoTo after() const {
        if (at_start || layer + 1 < walk.layers)
            return {at_start ? walk.layer.front() : view.group, -1, layer + 1};
        return {walk.last()};
    }

    void add_stop(G stop, int depth, bool passed) {
        pieces.push_back(
            {.label = short_name(stop),
             .current = stop == view.group,
             .passed = passed || stop == view.group,
             .depth = depth,
             .action = GoTo{stop},
             .tip = tr(group_info(stop).title) + " (" + std::string(group_info(stop).label) + ")",
             .name = "stage " + std::string(group_info(stop).label)});
    }

    void add_chip(const Message& label, std::size_t count, int depth, bool passed, const GoTo& action,
                  const std::string& tip) {
        pieces.push_back({.label = tr(label),
                          .count = count == 0 ? "" : std::to_string(count),
                          .chip = true,
                          .passed = passed,
                          .depth = depth,
                          .action = action,
                          .tip = tip,
                          .name = "group " + std::string(label.english)});
    }

    void add_outer(const Message& name, const std::vector<G>& stops, bool open, bool passed) {
        if (!open) {
            add_chip(name, stops.size(), 0, passed, GoTo{stops.front()}, tr(group_info(stops.front()).title));
            return;
        }
        pieces.push_back({.label = tr(name), .strong = true, .depth = 1});
        bool before = true;
        for (const G stop : stops) {
            add_stop(stop, 1, before);
            before = before && stop != view.group;
        }
    }

    /// Folded layers from `first` to `last`; those that are not beside the open one join.
    void add_layers(std::int64_t first, std::int64_t last, bool wanted) {
        if (!wanted || first > last)
            return;
        const bool passed = last < layer;
        const G stop = at_start || at_end ? walk.layer.front() : view.group;
        const auto chip = [&](std::int64_t from, std::int64_t to) {
            if (from > to)
                return;
            const std::string label =
                from == to ? layer_name(from) : layer_name(from) + "–" + std::to_string(to);
            add_chip(untranslated(label),
                     at_start || at_end ? walk.layer.size() * static_cast<std::size_t>(to - from + 1) : 0, 0,
                     passed, GoTo{stop, -1, passed ? to : from},
                     tr("block_strip.layer_same_stop", "Layer {}, the same step", passed ? to : from));
        };
        if (fold == 0) {
            for (std::int64_t l = first; l <= last; ++l)
                chip(l, l);
        } else if (fold == 1 && !at_start && !at_end) {
            passed ? (chip(first, last - 1), chip(last, last)) : (chip(first, first), chip(first + 1, last));
        } else {
            chip(first, last);
        }
    }

    void add_open_layer() {
        pieces.push_back({.label = layer_name(layer),
                          .strong = true,
                          .depth = 1,
                          .action = GoTo{walk.layer.front()},
                          .tip = tr("block_strip.layer", "Layer {} of {}", layer, walk.layers),
                          .name = "open layer"});
        const std::vector<StopRun> runs = runs_of(walk.layer);
        const auto here = std::ranges::find_if(runs, [&](const StopRun& run) { return run.has(view.group); });
        for (auto run = runs.begin(); run != runs.end(); ++run) {
            const bool passed = run < here;
            // The innermost open group never folds; the others become "…" on either side of it.
            if (fold >= 4 && run != here && !here->name.empty()) {
                const bool begins = passed ? run == runs.begin() : run == here + 1;
                if (begins)
                    pieces.push_back(
                        {.label = "…",
                         .chip = true,
                         .passed = passed,
                         .depth = 1,
                         .action = GoTo{passed ? runs.front().stops.front() : run->stops.front()},
                         .tip = passed ? tr("block_strip.stops_layer_before", "Steps of the previous layer")
                                       : tr("block_strip.stops_layer_after", "Steps of the next layer"),
                         .name = passed ? "earlier in the layer" : "later in the layer"});
                continue;
            }
            if (run->name.empty()) {
                add_stop(run->stops.front(), 1, passed);
            } else if (run != here) {
                add_chip(run->name, run->stops.size(), 1, passed, GoTo{run->stops.front()}, tr(run->title));
            } else {
                pieces.push_back({.label = tr(run->name), .strong = true, .depth = 2});
                add_open_run(*run);
            }
        }
    }

    void add_open_run(const StopRun& run) {
        const auto fold_to = [&](G stop, bool passed) {
            pieces.push_back({.label = "…",
                              .chip = true,
                              .passed = passed,
                              .depth = 2,
                              .action = GoTo{stop},
                              .tip = tr(group_info(stop).title),
                              .name = passed ? "earlier stops" : "later stops"});
        };
        const std::ptrdiff_t here = std::ranges::find(run.stops, view.group) - run.stops.begin();
        const std::ptrdiff_t first = std::max<std::ptrdiff_t>(here - reach, 0),
                             end = std::min(here + reach + 1, std::ssize(run.stops));
        if (first > 0)
            fold_to(run.stops[static_cast<std::size_t>(first - 1)], true);
        for (std::ptrdiff_t k = first; k < end; ++k)
            add_stop(run.stops[static_cast<std::size_t>(k)], 2, k < here);
        if (end < std::ssize(run.stops))
            fold_to(run.stops[static_cast<std::size_t>(end)], false);
    }

    const ViewState& view;
    const StepStrip& walk;
    const int fold;
    const std::ptrdiff_t reach;
    bool at_start = false, at_end = false;
    std::int64_t layer = 0;
};

float width_of(const Piece& piece, const figure::TextMeasure& measure) {
    const float text = measure(piece.label, figure::Font::ui_semibold, text_size);
    if (!piece.chip)
        return text;
    const float count = piece.count.empty() ? 0 : 6 + measure(piece.count, figure::Font::mono, text_size);
    return text + count + chevron + 2 * chip_pad;
}

/// Room that the edges of open groups take between two pieces.
float inset_between(int left, int right) {
    return static_cast<float>(std::abs(left - right)) * inset;
}

float total_width(const std::vector<Piece>& pieces, const figure::TextMeasure& measure) {
    float total = inset_between(0, pieces.front().depth) + inset_between(pieces.back().depth, 0);
    for (std::size_t k = 0; k < pieces.size(); ++k)
        total +=
            width_of(pieces[k], measure) + (k > 0 ? inset_between(pieces[k - 1].depth, pieces[k].depth) : 0);
    return total;
}

void draw_chevron(figure::Scene& scene, float x, float y, figure::Color colour) {
    scene.add(figure::LineItem{{x - 2, y - 4}, {x + 2, y}, colour, 1.5F});
    scene.add(figure::LineItem{{x + 2, y}, {x - 2, y + 4}, colour, 1.5F});
}

/// The fills of the open groups: each run of pieces of at least that depth.
void draw_fills(figure::Scene& scene, const Theme& theme, const std::vector<Piece>& pieces,
                const std::vector<figure::Rect>& places, float middle) {
    for (const int depth : {1, 2})
        for (std::size_t k = 0; k < pieces.size();) {
            if (pieces[k].depth < depth) {
                ++k;
                continue;
            }
            std::size_t end = k;
            while (end + 1 < pieces.size() && pieces[end + 1].depth >= depth)
                ++end;
            const auto out = [&](std::size_t piece) {
                return inset * static_cast<float>(pieces[piece].depth - depth + 1);
            };
            const float height = depth == 1 ? 33.0F : 27.0F, left = places[k].x - out(k),
                        right = places[end].right() + out(end);
            scene.add(figure::RectItem{.area = {left, middle - height / 2, right - left, height},
                                       .fill = depth == 1 ? theme.highlight : theme.raise,
                                       .stroke = depth == 1 ? theme.highlight : theme.line2,
                                       .radius = 6});
            k = end + 1;
        }
}

} // namespace

bool StopRun::has(StageGroup stop) const {
    return std::ranges::find(stops, stop) != stops.end();
}

std::vector<StopRun> runs_of(const std::vector<StageGroup>& layer) {
    constexpr Message attention = translatable("common.attention", "attention"), mlp = untranslated("MLP"),
                      delta = translatable("block_strip.delta", "delta");
    std::vector<StopRun> runs;
    for (const G stop : layer) {
        StopRun run;
        if (!is_around(stop))
            run = {attention,
                   translatable("block_strip.token_vectors_output", "From the token vectors to the output"),
                   {}};
        else if (is_delta(stop))
            run = {
                delta, translatable("block_strip.delta_layer", "A delta layer, in place of attention"), {}};
        else if (is_mlp(stop))
            run = {mlp, translatable("block_strip.inside_mlp", "Inside the MLP"), {}};
        if (run.name.empty() || runs.empty() || runs.back().name != run.name)
            runs.push_back(std::move(run));
        runs.back().stops.push_back(stop);
    }
    return runs;
}

std::string short_name(StageGroup stop) {
    switch (stop) {
    case G::embedding:
        return tr("common.token", "token");
    case G::resid_in:
        // Translators: a stop of the walk: what enters the layer
        return tr("block_strip.in", "in");
    case G::resid_mid:
    case G::activated:
    case G::resid_out:
        return "+";
    case G::mlp_pre:
    case G::mlp_gate:
    case G::mlp_sparse:
    case G::mlp_act:
    case G::mlp_shared:
    case G::mlp_experts:
    case G::mlp_raw:
    case G::mlp_out:
        return std::string(group_info(stop).label.substr(4));
    case G::routing:
        return tr("block_strip.router", "router");
    case G::final_norm:
        return tr("common.final_norm", "final norm");
    default:
        return std::string(group_info(stop).label);
    }
}

Picture draw_block_strip(const ViewState& view, const Theme& theme, const figure::TextMeasure& measure,
                         float width, float height) {
    const float room = width - 2 * edge;
    std::vector<Piece> pieces;
    const auto fits = [&](const Pieces& folded, float gap) {
        pieces = folded.pieces;
        return total_width(pieces, measure) + gap * static_cast<float>(pieces.size() - 1) <= room;
    };
    bool fit = false;
    for (int fold = 0; fold <= 4 && !fit; ++fold)
        fit = fits(Pieces(view, fold), least_gap);
    for (std::ptrdiff_t reach = all_stops; reach >= 0 && !fit; reach = std::min<std::ptrdiff_t>(reach, 8) - 1)
        fit = fits(Pieces(view, 4, reach), narrow_gap);
    const float between = pieces.size() < 2 ? 0 : static_cast<float>(pieces.size() - 1);
    const float gap =
        std::clamp((room - total_width(pieces, measure)) / std::max(between, 1.0F), narrow_gap, most_gap);
    const float middle = height / 2 - 1;
    std::vector<figure::Rect> places;
    float x = edge + inset_between(0, pieces.front().depth);
    for (std::size_t k = 0; k < pieces.size(); ++k) {
        if (k > 0)
            x += gap + inset_between(pieces[k - 1].depth, pieces[k].depth);
        const float w = width_of(pieces[k], measure);
        places.push_back({x, middle - chip_height / 2, w, chip_height});
        x += w;
    }
    // Where even so there is no room, the current stop is what shows.
    const auto current = std::ranges::find(pieces, true, &Piece::current) - pieces.begin();
    if (current < std::ssize(pieces)) {
        const float over = std::max(places[static_cast<std::size_t>(current)].right() + edge - width, 0.0F);
        for (figure::Rect& place : places)
            place.x -= over;
    }
    Picture picture;
    draw_fills(picture.scene, theme, pieces, places, middle);
    for (std::size_t k = 0; k < pieces.size(); ++k) {
        const Piece& piece = pieces[k];
        const figure::Rect& place = places[k];
        if (place.x < 0 || place.right() > width)
            continue;
        const figure::Color colour = piece.passed || piece.strong ? theme.ink : theme.muted;
        if (piece.chip)
            picture.scene.add(
                figure::RectItem{.area = place, .fill = theme.raise, .stroke = theme.line2, .radius = 5});
        const float text_x = place.x + (piece.chip ? chip_pad : 0),
                    baseline = figure::baseline_for(middle, text_size);
        const bool bold = piece.strong || piece.current;
        add_text(picture.scene, {text_x, baseline}, piece.label,
                 bold ? figure::Font::ui_semibold : figure::Font::ui_medium, text_size, colour);
        if (piece.chip) {
            draw_chevron(picture.scene, place.right() - chip_pad - 2, middle, theme.muted);
            if (!piece.count.empty())
                add_text(picture.scene, {place.right() - chip_pad - chevron, baseline}, piece.count,
                         figure::Font::mono, text_size, theme.muted, figure::Align::right);
        }
        if (piece.current)
            picture.scene.add(figure::RectItem{.area = {place.x, height - 3, place.w, 3}, .fill = theme.ink});
        if (piece.action)
            picture.add_hotspot({place.x - gap / 2, 0, place.w + gap, height}, piece.name, *piece.action,
                                piece.tip);
        if (k + 1 < pieces.size() && gap >= 10 && !piece.strong)
            draw_chevron(picture.scene, (place.right() + places[k + 1].x) / 2, middle, theme.line2);
    }
    return picture;
}

} // namespace headscope::app
