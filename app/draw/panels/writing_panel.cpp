#include "app/draw/panels/writing_panel.h"

#include "app/commands/actions.h"
#include "app/draw/kit/format.h"
#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>

namespace headscope::app {

namespace {

using checkpoint::Candidate;
using checkpoint::SamplingSettings;

constexpr std::size_t most_candidates = 8;

/// A button; only an outline with the reason while it is disabled.
void draw_step_button(Sheet& sheet, int column, const std::string& label, const Action& action, bool primary,
                      const std::string& tip, const std::string& missing) {
    constexpr float gap = 8;
    const DrawContext& context = sheet.context;
    const float width = (sheet.width() - 2 * gap) / 3;
    const figure::Rect area{sheet.left + (width + gap) * static_cast<float>(column), sheet.y, width, 32};
    if (missing.empty())
        return draw_button(sheet.picture, context, area, label, action, primary, tip);
    sheet.picture.scene.add(figure::RectItem{.area = area, .stroke = context.theme.line, .radius = 6});
    draw_text(sheet.picture, context, area.x + area.w / 2, figure::baseline_for(area.y + area.h / 2, 13),
              label, figure::Font::ui_medium, 13, context.theme.muted, figure::Align::center);
    sheet.picture.tips.push_back({area, missing});
}

std::string tip_of(const Candidate& one, const std::string& label, const ModelState& model) {
    const std::string logit = number(static_cast<double>(one.logit), 3),
                      probability = number(one.probability, 5), tempered = number(one.tempered, 5),
                      temperature = number(model.sampling.temperature, 2);
    if (!model.next_distribution->draw)
        return tr("writing_panel.id_logit_probability_click",
                  "{}, id {}: logit {}, probability {}. A click takes it", label, one.id, logit, probability);
    return one.kept > 0
               ? tr("writing_panel.id_logit_probability",
                    "{}, id {}: logit {}, probability {}, {} at temperature {}, {} among what is kept. A "
                    "click takes it",
                    label, one.id, logit, probability, tempered, temperature, number(one.kept, 5))
               : tr("writing_panel.id_logit_probability_2",
                    "{}, id {}: logit {}, probability {}, {} at temperature {}, cut off. A click takes it",
                    label, one.id, logit, probability, tempered, temperature);
}

/// Returns true if the list shows probabilities that differ from the model's own.
bool is_tempered(const ModelState& model) {
    return model.sampling.temperature != 1;
}

/// The probability at the sampling temperature, before the cutoffs.
double shown_probability(const ModelState& model, const Candidate& one) {
    return model.next_distribution->draw ? one.tempered : one.kept;
}

/// A candidate: the bar is its probability at the sampling temperature, the tick is the model's own
/// probability.
void write_candidate(Sheet& sheet, const ModelState& model, const Candidate& one, const std::string& label,
                     double end, bool taken) {
    constexpr float step = 24, name = 92, value = 62;
    const Theme& theme = sheet.context.theme;
    figure::Scene& scene = sheet.picture.scene;
    const figure::Rect area{sheet.left - 8, sheet.y, sheet.width() + 16, step};
    const float center = sheet.y + step / 2, bar = sheet.left + name, length = sheet.width() - name - value;
    const auto along = [&](double p) { return length * static_cast<float>(std::clamp(p / end, 0.0, 1.0)); };
    if (taken) {
        scene.add(figure::RectItem{.area = area, .fill = theme.highlight});
        scene.add(figure::RectItem{.area = {area.x, area.y, 3, area.h}, .fill = theme.ink});
    }
    const bool kept = one.kept > 0;
    const float top = sheet.y;
    sheet.y = center - Sheet::row_height / 2;
    sheet.put(sheet.left, label, name - 8, taken ? figure::Font::ui_semibold : figure::Font::ui_medium, 13,
              kept ? theme.ink : theme.muted);
    scene.add(figure::RectItem{.area = {bar, center - 4, length, 8}, .fill = theme.line});
    const double shown = shown_probability(model, one);
    scene.add(figure::RectItem{.area = {bar, center - 4, along(shown), 8},
                               .fill = taken  ? theme.ink
                                       : kept ? theme.muted
                                              : theme.line2});
    if (is_tempered(model))
        scene.add(figure::RectItem{.area = {bar + along(one.probability) - 1, center - 7, 2, 14},
                                   .fill = kept ? theme.ink : theme.muted});
    sheet.put(sheet.right, kept || model.next_distribution->draw ? percent_text(shown) : "–", value - 6,
              figure::Font::mono, 12.5F, kept ? theme.text : theme.muted, figure::Align::right);
    sheet.y = top + step;
    sheet.picture.add_hotspot(area, "take token " + std::to_string(one.id), GenerateToken{one.id},
                              tip_of(one, label, model));
}

/// Draws the kept candidates as segments of the interval 0 to 1, and the random number as a needle.
void write_draw(Sheet& sheet, const checkpoint::Distribution& next, const checkpoint::TextModel& text) {
    constexpr float height = 20, size = 11.5F;
    const DrawContext& context = sheet.context;
    const Theme& theme = context.theme;
    figure::Scene& scene = sheet.picture.scene;
    if (!next.draw)
        return sheet.paragraph(
            tr("writing_panel.greedy_temperature_0",
               "Greedy: at temperature 0 the likeliest token is taken, and nothing is drawn."),
            theme.muted);
    sheet.row(tr("writing_panel.draw", "The draw"), number(*next.draw, 4));
    sheet.y += 6;
    const figure::Rect strip{sheet.left, sheet.y, sheet.width(), height};
    scene.add(figure::RectItem{.area = strip, .fill = theme.line});
    const float needle = strip.x + strip.w * static_cast<float>(*next.draw);
    double from = 0;
    for (std::size_t n = 0; n < next.candidates.size() && next.candidates[n].kept > 0; ++n) {
        const double to = from + next.candidates[n].kept;
        const bool taken = n == next.taken;
        const auto x = [&](double at) { return strip.x + strip.w * static_cast<float>(std::min(at, 1.0)); };
        const figure::Rect part{x(from), strip.y, x(to) - x(from), height};
        if (taken)
            scene.add(figure::RectItem{.area = part, .fill = theme.ink});
        scene.add(figure::LineItem{{part.right(), part.y}, {part.right(), part.bottom()}, theme.panel, 1});
        const std::string label = checkpoint::label_of(text, next.candidates[n].id);
        // The label of the drawn token is on the longer side of the needle.
        const bool left = needle - part.x > part.right() - needle;
        const float begin = taken && !left ? needle : part.x, end = taken && left ? needle : part.right();
        if (context.measure(label, figure::Font::ui, size) + 8 <= end - begin)
            draw_text(sheet.picture, context, (begin + end) / 2,
                      figure::baseline_for(part.y + height / 2, size), label, figure::Font::ui, size,
                      taken ? theme.canvas : theme.text, figure::Align::center);
        from = to;
    }
    scene.add(figure::LineItem{{needle - 4, strip.y - 7}, {needle, strip.y - 1}, theme.ink, 2});
    scene.add(figure::LineItem{{needle + 4, strip.y - 7}, {needle, strip.y - 1}, theme.ink, 2});
    scene.add(figure::LineItem{{needle, strip.y}, {needle, strip.bottom()}, theme.bad, 1.5F});
    sheet.picture.tips.push_back(
        {{strip.x, strip.y - 8, strip.w, strip.h + 8},
         tr("writing_panel.kept_likeliest_first",
            "The kept tokens, likeliest first, as lengths from 0 to 1. The needle is the random number for "
            "this seed and position in the text; it falls on the token that Step takes")});
    sheet.y += height + 12;
}

constexpr std::array setting_words{translatable("common.temperature", "temperature"),
                                   translatable("common.seed", "seed")};

/// A setting: its name, an optional slider, and a field.
void write_setting(Sheet& sheet, TextField field, const std::optional<Slider>& slider) {
    constexpr float step = 32, name = 92, value = 62;
    field.area = {sheet.right - value, sheet.y, value, 26};
    sheet.put(sheet.left, tr(find_message(setting_words, field.label)), name - 8, figure::Font::ui, 13,
              sheet.context.theme.text);
    if (slider)
        draw_track(sheet.picture, sheet.context,
                   {sheet.left + name, sheet.y + 11, sheet.width() - name - value - 16, 4}, *slider,
                   sheet.context.theme.muted);
    sheet.picture.fields.push_back(std::move(field));
    sheet.y += step;
}

/// The decimal number that prints a float32.
double decimal(float value) {
    return std::stod(shortest_number(value));
}

std::int64_t whole(float value) {
    return static_cast<std::int64_t>(value + 0.5F);
}

/// The action for a typed text or a slider's number, which `change` applies to the settings.
template<class Change>
Action changed(SamplingSettings settings, const Change& change) {
    change(settings);
    checkpoint::check_settings(settings);
    return SetSampling{settings};
}

} // namespace

void write_sampling(Sheet& sheet, const SamplingSettings& now) {
    sheet.section(tr("writing_panel.sampling", "Sampling"), tr("writing_panel.order", "in this order"));
    const auto real = [&now](std::string_view name, float high, double value, double rest, auto set,
                             const std::string& tip) {
        const std::function<Action(float)> act = [now, set](float typed) {
            return changed(now, [&](SamplingSettings& settings) { set(settings, decimal(typed)); });
        };
        const std::string label(name);
        const Slider slider{.label = label + " slider",
                            .low = 0,
                            .high = high,
                            .value = static_cast<float>(value),
                            .default_value = static_cast<float>(rest),
                            .action = act,
                            .tip = tip};
        const TextField field{.label = label,
                              .text = shortest_number(static_cast<float>(value)),
                              .action = [act](const std::string& typed) { return act(parse_number(typed)); },
                              .tip = tip};
        return std::pair(field, slider);
    };
    const auto [temperature, temperature_slider] = real(
        "temperature", 2, now.temperature, default_sampling.temperature,
        [](SamplingSettings& settings, double typed) { settings.temperature = typed; },
        tr("writing_panel.logits_divided_0_takes",
           "The logits are divided by it; 0 takes the likeliest token"));
    write_setting(sheet, temperature, temperature_slider);
    constexpr float largest_k = 100;
    // Translators: in the field of top-k: all tokens are kept
    const std::string all = tr("writing_panel.all_tokens", "all");
    const std::string k_tip = tr("writing_panel.likeliest_many_tokens_kept",
                                 "Keeps only this many of the likeliest tokens; 0 or “{}” keeps all", all);
    const auto set_k = [now](std::int64_t k) {
        return changed(now, [k](SamplingSettings& settings) {
            settings.top_k = k == 0 ? std::nullopt : std::optional(k);
        });
    };
    write_setting(sheet,
                  {.label = "top-k",
                   .text = now.top_k ? std::to_string(*now.top_k) : all,
                   .action =
                       [set_k, all](const std::string& typed) {
                           const float k = typed == "all" || typed == all ? 0 : parse_number(typed);
                           if (k != static_cast<float>(whole(k)))
                               fail_input(tr("writing_panel.top_k_should_whole",
                                             "top-k is {}; it should be a whole number", typed));
                           return set_k(whole(k));
                       },
                   .tip = k_tip},
                  Slider{.label = "top-k slider",
                         .low = 1,
                         .high = largest_k,
                         .value = now.top_k ? static_cast<float>(*now.top_k) : largest_k,
                         .default_value = static_cast<float>(*default_sampling.top_k),
                         .action = [set_k](float k) { return set_k(whole(k)); },
                         .tip = k_tip,
                         .grain = 1});
    const auto [top_p, top_p_slider] = real(
        "top-p", 1, now.top_p.value_or(1), *default_sampling.top_p,
        [](SamplingSettings& settings, double typed) { settings.top_p = typed; },
        tr("writing_panel.likeliest_together_reach",
           "Keeps only the likeliest of these that together reach this value; 1 keeps all"));
    Slider above_zero = top_p_slider;
    above_zero.low = 0.01F;
    write_setting(sheet, top_p, above_zero);
    write_setting(sheet,
                  {.label = "seed",
                   .text = std::to_string(now.seed),
                   .action =
                       [now](const std::string& typed) {
                           return changed(
                               now, [&](SamplingSettings& settings) { settings.seed = parse_seed(typed); });
                       },
                   .tip = tr("writing_panel.draw_depends_seed_tokens",
                             "The draw depends only on the seed and the token's position in the text")},
                  std::nullopt);
}

void write_generation_buttons(Sheet& sheet, const ModelState& model, bool written) {
    const std::string full = model.generation_blocked_reason;
    draw_step_button(
        sheet, 0, tr("writing_panel.step_verb", "Step"), GenerateToken{}, true,
        with_key(tr("writing_panel.puts_drawn_token_behind", "Appends the drawn token to the text"),
                 "write token"),
        full);
    draw_step_button(
        sheet, 1, model.generating ? tr("writing_panel.stop", "Stop") : tr("writing_panel.run_verb", "Run"),
        SetGenerating{!model.generating}, false,
        with_key(model.generating ? tr("writing_panel.writes_no_further_token", "Stops writing")
                                  : tr("writing_panel.writes_token_after_token",
                                       "Writes token after token, at most 8 a second"),
                 "write on"),
        model.generating ? "" : full);
    draw_step_button(
        sheet, 2, tr("writing_panel.take_back", "Take back"), RemoveTokens{}, false,
        with_key(tr("common.takes_newest_written_token", "Removes the newest written token"), "take back"),
        written ? "" : tr("writing_panel.no_token_written_yet", "No token was written yet"));
    sheet.y += 44;
}

void write_next_token(Sheet& sheet, const ModelState& model, const checkpoint::TextModel& text) {
    const DrawContext& context = sheet.context;
    const Theme& theme = context.theme;
    const checkpoint::Distribution& next = *model.next_distribution;
    for (const std::string& sentence : {model.stop_reason, model.generation_blocked_reason})
        if (!sentence.empty())
            sheet.paragraph(sentence, theme.text);
    sheet.section(tr("writing_panel.write", "Write on"),
                  model.running ? tr("writing_panel.computing", "computing {} %",
                                     number(100 * static_cast<double>(model.fraction), 0))
                                : tr("writing_panel.one_token_time", "one token at a time"));
    sheet.paragraph(tr("writing_panel.next_token_after_token",
                       "Next token after “{}”, token {}, at temperature {}.",
                       model.run->inputs().tokens.back(), model.run->inputs().T - 1,
                       shortest_number(static_cast<float>(model.sampling.temperature))),
                    theme.text);
    std::vector<std::size_t> listed;
    for (std::size_t n = 0; n < std::min(most_candidates, next.candidates.size()); ++n)
        listed.push_back(n);
    if (next.taken >= listed.size())
        listed.back() = next.taken;
    double end = 0.01;
    bool cuts = false;
    for (const std::size_t n : listed) {
        end = std::max({end, next.candidates[n].probability, shown_probability(model, next.candidates[n])});
        cuts = cuts || (next.draw && next.candidates[n].kept <= 0);
    }
    for (const std::size_t n : listed)
        write_candidate(sheet, model, next.candidates[n], checkpoint::label_of(text, next.candidates[n].id),
                        end, n == next.taken);
    sheet.y += 4;
    const std::string kept = grouped(next.kept), all = grouped(text.model->config().vocab),
                      full = percent_text(end);
    sheet.paragraph(
        (is_tempered(model) ? tr("writing_panel.tokens_kept_full_bar",
                                 "{} of {} tokens kept. A full bar is {}; ticks: the model's own, at "
                                 "temperature 1.",
                                 kept, all, full)
                            : tr("writing_panel.tokens_kept_full_bar_2",
                                 "{} of {} tokens kept. A full bar is {}.", kept, all, full)) +
            (cuts ? " " + tr("writing_panel.grey_cut_top_k", "Gray: cut off by top-k or top-p.") : ""),
        theme.muted);
    write_draw(sheet, next, text);
}

} // namespace headscope::app
