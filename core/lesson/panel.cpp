#include "core/lesson/panel.h"

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"
#include "core/lesson/panel_figure.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headscope::lesson {

namespace {

constexpr std::int64_t most_heads = 128, widest = 16384, most_layers = 128;

std::vector<double> powers_of_two(std::int64_t from, std::int64_t to, bool halves) {
    std::vector<double> all;
    for (std::int64_t at = from; at <= to; at *= 2) {
        all.push_back(static_cast<double>(at));
        if (halves && at % 2 == 0 && at * 3 / 2 <= to)
            all.push_back(static_cast<double>(at * 3 / 2));
    }
    return all;
}

std::vector<double> divisors(std::int64_t number, std::int64_t most) {
    std::vector<double> all;
    for (std::int64_t at = 1; at <= std::min(number, most); ++at)
        if (number % at == 0)
            all.push_back(static_cast<double>(at));
    return all;
}

class KnobList {
public:
    explicit KnobList(const Knobs& set) : set_(set) {}

    /// Adds a knob that accepts every integer from its first to its last stop; returns its value.
    std::int64_t whole(const std::string& name, const std::string& says, std::int64_t rest,
                       std::vector<double> stops) {
        return add(name, says, rest, std::move(stops), false);
    }
    /// Adds a knob that accepts only its stops; returns the largest stop that does not exceed the requested
    /// number.
    std::int64_t stop(const std::string& name, const std::string& says, std::int64_t rest,
                      std::vector<double> stops) {
        return add(name, says, rest, std::move(stops), true);
    }
    /// Adds a knob that accepts any number in a range, with two decimals.
    void number(const std::string& name, const std::string& says, double rest, double low, double high) {
        const auto own = set_.find(name);
        all.push_back({.name = name,
                       .description = says,
                       .low = low,
                       .high = high,
                       .lesson_value = rest,
                       .value = std::clamp(own == set_.end() ? rest : own->second, low, high),
                       .decimals = 2});
    }

    std::vector<Knob> all;

private:
    std::int64_t add(const std::string& name, const std::string& says, std::int64_t rest,
                     std::vector<double> stops, bool only_stops) {
        const auto own = set_.find(name);
        double value = std::round(own == set_.end() ? static_cast<double>(rest) : own->second);
        value = std::clamp(value, stops.front(), stops.back());
        if (only_stops)
            value = *std::prev(std::ranges::upper_bound(stops, value));
        Knob knob{.name = name,
                  .description = says,
                  .low = stops.front(),
                  .high = stops.back(),
                  .lesson_value = static_cast<double>(rest),
                  .value = value};
        knob.slider_values = std::move(stops);
        all.push_back(std::move(knob));
        return static_cast<std::int64_t>(value);
    }

    const Knobs& set_;
};

/// The integers 0 to `last`.
std::vector<double> counted(std::int64_t last) {
    std::vector<double> all(static_cast<std::size_t>(last + 1));
    std::iota(all.begin(), all.end(), 0.0);
    return all;
}

std::vector<double> lengths() {
    return powers_of_two(1, longest_text, true);
}

std::vector<double> latent_widths() {
    std::vector<double> all = powers_of_two(16, 2048, true);
    all.insert(all.begin(), 0.0);
    return all;
}

} // namespace

std::vector<Knob> knobs_of(const LessonPanel& panel, const Knobs& set) {
    KnobList list(set);
    std::visit(
        Overloaded{
            [&](const CostPanel& p) {
                list.whole("T", tr("common.tokens_2", "tokens"), p.T, lengths());
                const std::int64_t D =
                    list.whole("D", tr("panel.width_x", "width of x"), p.D, powers_of_two(16, widest, true));
                const std::int64_t H = list.stop("H", tr("panel.heads_h_divides_d", "heads; H divides D"),
                                                 p.H, divisors(D, most_heads));
                list.stop("Hkv", tr("panel.key_value_heads_hkv", "key/value heads; Hkv divides H"),
                          p.Hkv == 0 ? H : p.Hkv, divisors(H, most_heads));
            },
            [&](const CachePanel& p) {
                list.whole("T", tr("panel.tokens_kept", "tokens kept"), p.T, lengths());
                list.whole("layers", tr("panel.layers_model", "layers of the model"), p.layers,
                           powers_of_two(1, most_layers, true));
                const std::int64_t H = list.whole("H", tr("panel.query_heads", "query heads"), p.H,
                                                  powers_of_two(1, most_heads, true));
                list.stop("Hkv", tr("panel.key_value_heads_hkv", "key/value heads; Hkv divides H"), p.Hkv,
                          divisors(H, most_heads));
                list.whole("dk", tr("panel.width_head", "width of a head"), p.dk,
                           powers_of_two(16, 256, true));
                if (p.latent > 0)
                    list.whole("latent",
                               tr("panel.numbers_latent", "numbers cached by MLA; 0: no row for it"),
                               p.latent, latent_widths());
                list.stop("bytes", tr("panel.bytes_per_number", "bytes per number"), p.bytes, {1, 2, 4});
            },
            [&](const MergePanel&) {
                list.number("merged",
                            tr("panel.how_much_others_questions",
                               "fraction of the other heads' questions that each head also asks"),
                            0, 0, 1);
            },
            [](const LoopPanel&) {},
            [&](const SamplingPanel& p) {
                list.number("temperature", tr("panel.divides_logits", "divides the logits"), p.temperature,
                            0.1, 3);
                list.whole("top_k", tr("panel.many_likeliest_tokens", "number of likeliest tokens to keep"),
                           p.top_k, {1, 2, 3, 5, 10, 20, 50, 100, 200, 500, SamplingPanel::most_top_k});
                list.number("top_p",
                            tr("panel.likeliest_tokens_together_reach",
                               "probability that the kept tokens reach together"),
                            p.top_p, 0.05, 1);
            },
            [](const HeadsPanel&) {}, [](const PathPanel&) {},
            [&](const PositionsPanel& p) {
                constexpr std::int64_t last = 63;
                list.whole("query", tr("panel.position_token_asks", "position of the token that asks"),
                           p.query, counted(last));
                list.whole("key", tr("panel.position_token_asked", "position of the token that is asked"),
                           p.key, counted(last));
                list.whole("pair",
                           tr("panel.pair_numbers_turns_together", "pair of numbers that rotates together"),
                           p.pair, counted(p.dk / 2 - 1));
            }},
        panel.kind);
    return std::move(list.all);
}

void check_knob(const LessonPanel& panel, const Knobs& set, const std::string& name, double value) {
    Knobs wanted = set;
    wanted[name] = value;
    const std::vector<Knob> knobs = knobs_of(panel, wanted);
    const auto knob = std::ranges::find(knobs, name, &Knob::name);
    if (knob == knobs.end())
        fail_input(tr("common.panel_no_knob", "the panel has no knob \"{}\"", name));
    if (knob->value == value)
        return;
    if (knob->decimals > 0)
        fail_input(tr("panel.takes_numbers", "{} takes numbers from {} to {}", name,
                      std::to_string(knob->low).substr(0, 4), std::to_string(knob->high).substr(0, 4)));
    const auto text = [](double number) { return std::to_string(static_cast<std::int64_t>(number)); };
    if (value < knob->low || value > knob->high || value != std::round(value))
        fail_input(tr("panel.takes_whole_numbers", "{} takes whole numbers from {} to {}", name,
                      text(knob->low), text(knob->high)));
    fail_input(tr("panel.not_fit_sizes_beside", "{} = {} does not fit the other sizes; it can be {}", name,
                  text(value), joined(knob->slider_values, text)));
}

} // namespace headscope::lesson
