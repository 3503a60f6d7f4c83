#include "core/base/error.h"
#include "core/base/message.h"
#include "core/lesson/check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>

namespace headscope::lesson {

namespace {

/// `state` with other numbers; the learner's view is unchanged.
LessonState with_numbers(const LessonState& state, const Problem& problem, const Trace& trace,
                         const LessonModel* model, std::int64_t layer) {
    return {.problem = problem,
            .trace = trace,
            .stage = state.stage,
            .row = state.row,
            .head = state.head,
            .done = state.done,
            .selected = state.selected,
            .edited = state.edited,
            .text_changed = state.text_changed,
            .model = model,
            .layer = layer,
            .screen = state.screen,
            .patched = state.patched,
            .patch = state.patch};
}

/// Separates thousands with commas, like the other counts in the window.
std::string grouped(std::string text) {
    const auto first = std::min(text.find_first_of("0123456789"), text.size());
    const auto end = std::min(text.find('.'), text.size());
    constexpr std::size_t group = 3, fewest = 4;
    if (end - first >= fewest)
        for (std::size_t place = end - group; place > first && place < end; place -= group)
            text.insert(place, 1, ',');
    return text;
}

} // namespace

std::string with_decimals(double number, int decimals) {
    if (std::isinf(number))
        return number < 0 ? "−∞" : "∞";
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*f", decimals, number);
    // A number that is rounded to zero has no sign.
    const std::string_view digits(text.data());
    const bool zero = digits.find_first_of("123456789") == std::string_view::npos;
    std::string out(digits.starts_with('-') ? digits.substr(1) : digits);
    return digits.starts_with('-') && !zero ? "−" + out : out;
}

Printed printed(const LiveValue& value, const LessonState& state) {
    const LessonValue found = value.expression.value(state);
    if (const auto* words = std::get_if<std::string>(&found))
        return {*words, true};
    const double number = std::get<double>(found);
    const bool whole = number == std::floor(number) && value.expression.targets().empty();
    return {grouped(with_decimals(number, value.decimals.value_or(whole ? 0 : 2))), whole};
}

LessonState page_state(const LessonState& state) {
    const PageNumbers& own = *state.page_numbers;
    LessonState out = with_numbers(state, *own.problem, *own.trace, own.model.get(), own.layer);
    out.edited = out.text_changed = false;
    return out;
}

LessonState current_state(const LessonState& state) {
    if (state.page_numbers == nullptr || state.page_numbers->model == nullptr || state.model == nullptr)
        return with_numbers(state, state.problem, state.trace, state.model, state.layer);
    const checkpoint::LayerRun& layer = layer_of(*state.model, state.page_numbers->layer);
    return with_numbers(state, *layer.problem, layer.trace, state.model, state.page_numbers->layer);
}

LessonState state_inside(const Callout& callout, const LessonState& state) {
    if (!callout.when || state.page_numbers == nullptr || is_shown(callout, page_state(state)))
        return state;
    return current_state(state);
}

bool is_shown(const Callout& callout, const LessonState& state) {
    try {
        return !callout.when || callout.when->truth(state);
    } catch (const Error&) {
        return false;
    }
}

std::string print_value(const LiveValue& value, const LessonState& state) {
    if (!value.quoted.empty())
        return value.quoted;
    if (state.page_numbers == nullptr)
        return printed(value, state).text;
    std::optional<Printed> own, now;
    try {
        own = printed(value, page_state(state));
        now = printed(value, current_state(state));
    } catch (const Error&) {
        // The learner's sentence may lack a word of the lesson: the lesson's own number is printed then.
        if (!own)
            return printed(value, state).text;
    }
    if (!now || now->text == own->text || (own->exact && now->exact))
        return own->text;
    // Translators: a number in the prose of a lesson, and the same number after the learner's change
    return tr("common.now", "was {}, now {}", own->text, now->text);
}

} // namespace headscope::lesson
