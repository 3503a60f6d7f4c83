#include "core/lesson/questions/grade.h"

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"
#include "core/lesson/check.h"
#include "core/lesson/questions/answer_text.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>

namespace headscope::lesson {

namespace {

constexpr int usual_decimals = 2, most_decimals = 8;
constexpr double rounding = 1 + 1e-6; ///< a typed number may be exactly half a unit away

class Grading {
public:
    Grading(const StepQuestion& question, const LessonState& state) : question_(question), state_(state) {}

    Grade grade(const std::string& answer) const {
        Grade grade = std::visit([&](const auto& task) { return of(task, answer); }, question_.task);
        if (grade.verdict != Grade::Verdict::wrong)
            return grade;
        for (const Mistake& mistake : question_.mistakes)
            try {
                if (same(answer, answer_of(mistake, question_, state_)))
                    grade.why = &mistake.why;
            } catch (const Error&) {
                // The check of the lesson reports a mistake that is not an answer.
            }
        return grade;
    }

    std::string right() const {
        return std::visit([&](const auto& task) { return right(task); }, question_.task);
    }
    std::string wrong() const {
        return std::visit([&](const auto& task) { return wrong(task); }, question_.task);
    }
    std::string printed(const std::string& answer) const {
        return std::visit([&](const auto& task) { return printed(task, answer); }, question_.task);
    }

    static std::string text_of(double number, int decimals) {
        return replace_all(with_decimals(number, decimals), "−", "-");
    }

private:
    static Grade right_if(bool right, std::string hint = {}) {
        return right ? Grade{Grade::Verdict::right} : Grade{Grade::Verdict::wrong, nullptr, std::move(hint)};
    }
    static Grade unreadable(std::string hint) {
        return {Grade::Verdict::unreadable, nullptr, std::move(hint)};
    }
    static std::string not_yet() { return tr("grade.not_yet", "Not yet."); }

    /// Returns true if both are answers with the same meaning.
    bool same(const std::string& a, const std::string& b) const {
        return std::visit(Overloaded{[&](const NumberTask& task) {
                                         const double tolerance = accepted_difference(task);
                                         const auto wanted = numbers_meant(b);
                                         return std::ranges::any_of(numbers_meant(a), [&](double number) {
                                             return !wanted.empty() &&
                                                    std::abs(number - wanted.front()) <= tolerance * rounding;
                                         });
                                     },
                                     [&](const ShapeTask&) { return sizes_in(a) == sizes_in(b); },
                                     [&](const CellTask&) {
                                         const auto one = cell(a), other = cell(b);
                                         return one && other && one->first.tensor == other->first.tensor &&
                                                one->first.first == other->first.first;
                                     },
                                     [&](const TokenTask&) { return positions(a) == positions(b); },
                                     [&](const auto&) { return numbers_in(a) == numbers_in(b); }},
                          question_.task);
    }

    // Numbers

    Grade of(const NumberTask& task, const std::string& answer) const {
        const std::vector<double> meant = numbers_meant(answer);
        if (meant.empty())
            return unreadable(tr("grade.type_number", "Type a number, such as 0.25."));
        const double value = task.value.number(state_), allowed = accepted_difference(task) * rounding;
        if (std::ranges::any_of(meant, [&](double number) { return std::abs(number - value) <= allowed; }))
            return {Grade::Verdict::right};
        return right_if(false, meant.front() > value
                                   ? tr("grade.too_large", "Not yet. Your number is too large.")
                                   : tr("grade.too_small", "Not yet. Your number is too small."));
    }
    std::string right(const NumberTask& task) const {
        const double value = task.value.number(state_);
        int decimals = task.decimals.value_or(value == std::floor(value) ? 0 : usual_decimals);
        std::string text = text_of(value, decimals);
        while (decimals < most_decimals && of(task, text).verdict != Grade::Verdict::right)
            text = text_of(value, ++decimals);
        return text;
    }
    std::string wrong(const NumberTask& task) const {
        const double value = task.value.number(state_);
        return text_of(2 * std::abs(value) + 1 + 4 * accepted_difference(task), most_decimals);
    }
    static std::string printed(const NumberTask&, const std::string& answer) {
        return replace_all(answer, "-", "−");
    }

    // Shapes

    std::vector<std::int64_t> sizes(const std::vector<Expression>& expressions) const {
        std::vector<std::int64_t> out;
        for (const Expression& expression : expressions)
            out.push_back(std::llround(expression.number(state_)));
        return out;
    }

    Grade of(const ShapeTask& task, const std::string& answer) const {
        const std::vector<std::int64_t> typed = sizes_in(answer), wanted = sizes(task.sizes);
        if (typed.empty())
            return unreadable(tr("grade.type_shape", "Type the sizes, such as 3 x 5."));
        if (typed.size() != wanted.size())
            return right_if(false, tr("grade.other_axes", "Not yet. The shape has another number of axes."));
        return right_if(typed == wanted,
                        std::ranges::is_permutation(typed, wanted)
                            ? tr("grade.order_of_axes", "Not yet. The sizes are right; their order is not.")
                            : tr("grade.sizes_differ", "Not yet. At least one size is different."));
    }
    static std::string shape_text(const std::vector<std::int64_t>& sizes) {
        std::vector<std::string> texts;
        std::ranges::transform(sizes, std::back_inserter(texts),
                               [](std::int64_t n) { return std::to_string(n); });
        return joined(texts, std::identity(), " × ");
    }
    std::string right(const ShapeTask& task) const { return shape_text(sizes(task.sizes)); }
    std::string wrong(const ShapeTask& task) const {
        std::vector<std::int64_t> other = sizes(task.sizes);
        other.back() += 7;
        return shape_text(other);
    }
    static std::string printed(const ShapeTask&, const std::string& answer) {
        const std::vector<std::int64_t> sizes = sizes_in(answer);
        return sizes.empty() ? answer : shape_text(sizes);
    }

    // Cells

    /// The cell that an answer names and its value; empty if it names no single cell.
    std::optional<std::pair<CellRange, float>> cell(const std::string& answer) const {
        try {
            const CellRange range = resolve(parse_target(answer), state_.problem);
            if (range.size() == 1)
                return std::pair(range, values(range).front());
        } catch (const Error&) { // not a target, or one that this problem does not have
        }
        return {};
    }
    std::vector<float> values(const CellRange& cells) const {
        const Tensor* const tensor = state_.model != nullptr
                                         ? tensor_of(*state_.model, state_.layer, cells.tensor)
                                         : tensor_of(state_.problem, state_.trace, cells.tensor);
        if (tensor == nullptr)
            fail_input(tr("common.problem_no", "this problem has no {}", tensor_info(cells.tensor).name));
        return values_of(cells, *tensor);
    }
    static bool contains(const CellRange& cells, const CellRange& one) {
        if (cells.tensor != one.tensor)
            return false;
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(tensor_info(cells.tensor).rank()); ++axis)
            if (one.first[axis] < cells.first[axis] ||
                one.first[axis] >= cells.first[axis] + cells.count[axis])
                return false;
        return true;
    }
    /// The value of the cells that are right.
    static float extreme(const CellTask& task, const std::vector<float>& values) {
        return task.wanted == CellTask::Wanted::largest ? *std::ranges::max_element(values)
                                                        : *std::ranges::min_element(values);
    }

    Grade of(const CellTask& task, const std::string& answer) const {
        const CellRange among = resolve(task.among, state_.problem);
        const auto clicked = cell(answer);
        if (!clicked || !contains(among, clicked->first))
            return unreadable(
                tr("grade.click_among", "Click a cell of {} on the canvas.", target_text(task.among)));
        if (task.wanted == CellTask::Wanted::named)
            return right_if(clicked->first.first == resolve(*task.cell, state_.problem).first, not_yet());
        const std::string value = with_decimals(static_cast<double>(clicked->second), usual_decimals);
        return right_if(
            clicked->second == extreme(task, values(among)),
            task.wanted == CellTask::Wanted::largest
                ? tr("grade.not_largest", "Not yet. This cell is {}, and another one is larger.", value)
                : tr("grade.not_smallest", "Not yet. This cell is {}, and another one is smaller.", value));
    }
    /// The first cell among those of the task for which the call is true; empty if there is none.
    template<class Call>
    std::string first_cell(const CellTask& task, const Call& call) const {
        for (std::string& answer : cell_answers(resolve(task.among, state_.problem)))
            if (call(of(task, answer).verdict))
                return std::move(answer);
        return {};
    }
    std::string right(const CellTask& task) const {
        return first_cell(task, [](Grade::Verdict verdict) { return verdict == Grade::Verdict::right; });
    }
    std::string wrong(const CellTask& task) const {
        return first_cell(task, [](Grade::Verdict verdict) { return verdict == Grade::Verdict::wrong; });
    }
    std::string printed(const CellTask&, const std::string& answer) const {
        const auto found = cell(answer);
        if (!found)
            return answer;
        const TensorInfo& info = tensor_info(found->first.tensor);
        std::vector<std::string> words;
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(info.rank()); ++axis) {
            const std::int64_t at = found->first.first[axis];
            if (info.axes[axis] != Axis::B)
                words.push_back(info.axes[axis] == Axis::Tq   ? state_.problem.query_label(at)
                                : info.axes[axis] == Axis::Tk ? state_.problem.key_label(at)
                                                              : std::to_string(at));
        }
        std::string text(info.name);
        if (words.size() == 3) { // the head has its own brackets: weights[0][sat, cat]
            text += "[" + words.front() + "]";
            words.erase(words.begin());
        }
        return text + "[" + joined(words) +
               "] = " + with_decimals(static_cast<double>(found->second), usual_decimals);
    }

    // Tokens

    std::set<std::int64_t> positions(const std::vector<std::string>& words) const {
        std::set<std::int64_t> found;
        for (const std::string& word : words)
            found.insert(query_row(parse_index(word), state_.problem));
        return found;
    }
    std::set<std::int64_t> positions(const std::string& answer) const {
        return positions(parts_of(answer, ','));
    }

    Grade of(const TokenTask& task, const std::string& answer) const {
        const std::set<std::int64_t> wanted = positions(task.words);
        std::set<std::int64_t> chosen;
        try {
            chosen = positions(answer);
        } catch (const Error&) {
            return unreadable(task.many
                                  ? tr("grade.choose_words", "Choose words of the sentence, then check.")
                                  : tr("grade.choose_word", "Choose a word of the sentence."));
        }
        if (!task.many)
            return right_if(chosen == wanted, not_yet());
        const auto belong = std::ranges::count_if(chosen, [&](auto at) { return wanted.contains(at); });
        return right_if(chosen == wanted,
                        belong == std::ssize(chosen)
                            ? tr("grade.words_missing", "Not yet. At least one word is missing.")
                            : tr_n("grade.words_too_many", "Not yet. {} of your words does not belong.",
                                   "Not yet. {} of your words do not belong.", std::ssize(chosen) - belong,
                                   std::ssize(chosen) - belong));
    }
    static std::string right(const TokenTask& task) { return joined(task.words); }
    std::string wrong(const TokenTask& task) const {
        const std::set<std::int64_t> wanted = positions(task.words);
        for (std::int64_t at = 0; at < state_.problem.dims.Tq; ++at)
            if (!wanted.contains(at))
                return std::to_string(at);
        return {};
    }
    std::string printed(const TokenTask&, const std::string& answer) const {
        std::vector<std::string> words;
        for (const std::int64_t at : positions(answer))
            words.push_back(state_.problem.query_label(at));
        return joined(words);
    }

    // Orders

    Grade of(const OrderTask& task, const std::string& answer) const {
        const std::vector<std::size_t> order = numbers_in(answer);
        std::vector<std::size_t> all(task.items.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        if (!std::ranges::is_permutation(order, all))
            return unreadable(
                tr("grade.choose_all_items", "Choose all items, from the largest to the smallest."));
        std::vector<double> values, sorted;
        for (const std::size_t item : order)
            values.push_back(task.items[item].value.number(state_));
        sorted = values;
        std::ranges::sort(sorted, std::greater());
        const auto same = std::ranges::mismatch(values, sorted).in1 - values.begin();
        return right_if(values == sorted,
                        same == 0 ? tr("grade.first_item_wrong", "Not yet. Another one is the largest.")
                                  : tr_n("grade.first_items_right", "Not yet. Only the first one is right.",
                                         "Not yet. Only the first {} are right.", same, same));
    }
    std::vector<std::size_t> right_order(const OrderTask& task) const {
        std::vector<std::size_t> order(task.items.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, std::greater(),
                                 [&](std::size_t item) { return task.items[item].value.number(state_); });
        return order;
    }
    static std::string order_text(const std::vector<std::size_t>& order) {
        std::vector<std::string> numbers;
        std::ranges::transform(order, std::back_inserter(numbers),
                               [](std::size_t item) { return std::to_string(item + 1); });
        return joined(numbers);
    }
    std::string right(const OrderTask& task) const { return order_text(right_order(task)); }
    std::string wrong(const OrderTask& task) const {
        std::vector<std::size_t> order = right_order(task);
        std::ranges::reverse(order);
        return order_text(order);
    }

    // Choices

    static Grade of(const ChoiceTask& task, const std::string& answer) {
        const std::vector<std::size_t> chosen = numbers_in(answer);
        if (chosen.size() != 1 || chosen.front() >= task.choices.size())
            return unreadable(tr("grade.choose_answer", "Choose one of the answers."));
        const QuizChoice& choice = task.choices[chosen.front()];
        return {choice.correct ? Grade::Verdict::right : Grade::Verdict::wrong, &choice.explanation, {}};
    }
    static std::string right(const ChoiceTask& task) {
        const auto choice = std::ranges::find(task.choices, true, &QuizChoice::correct);
        return std::to_string(choice - task.choices.begin() + 1);
    }
    static std::string wrong(const ChoiceTask& task) {
        const auto choice = std::ranges::find(task.choices, false, &QuizChoice::correct);
        return std::to_string(choice - task.choices.begin() + 1);
    }

    std::string plain(const Spans& spans) const {
        std::string text;
        for (const Span& span : spans)
            text += span.value ? print_value(*span.value, state_) : span.text;
        return text;
    }
    std::string printed(const OrderTask& task, const std::string& answer) const {
        std::vector<std::string> texts;
        for (const std::size_t item : numbers_in(answer))
            if (item < task.items.size())
                texts.push_back(plain(task.items[item].text));
        return joined(texts, std::identity(), " > ");
    }
    std::string printed(const ChoiceTask& task, const std::string& answer) const {
        const std::vector<std::size_t> chosen = numbers_in(answer);
        return chosen.size() == 1 && chosen.front() < task.choices.size()
                   ? plain(task.choices[chosen.front()].text)
                   : answer;
    }

    const StepQuestion& question_;
    const LessonState& state_;
};

} // namespace

double accepted_difference(const NumberTask& task) {
    return task.within.value_or(0.5 * std::pow(10.0, -task.decimals.value_or(usual_decimals)));
}

Grade grade(const StepQuestion& question, const std::string& answer, const LessonState& state) {
    return Grading(question, state).grade(answer);
}

std::string right_answer(const StepQuestion& question, const LessonState& state) {
    return Grading(question, state).right();
}

std::string wrong_answer(const StepQuestion& question, const LessonState& state) {
    return Grading(question, state).wrong();
}

std::string answer_of(const Mistake& mistake, const StepQuestion& question, const LessonState& state) {
    if (mistake.values.empty())
        return mistake.answer;
    std::vector<std::string> texts;
    const bool shape = std::holds_alternative<ShapeTask>(question.task);
    for (const Expression& value : mistake.values)
        texts.push_back(Grading::text_of(value.number(state), shape ? 0 : most_decimals));
    return joined(texts, std::identity(), " × ");
}

std::string printed_answer(const StepQuestion& question, const std::string& answer,
                           const LessonState& state) {
    try {
        return Grading(question, state).printed(answer);
    } catch (const Error&) { // stored by a version of the lesson with other words
        return answer;
    }
}

} // namespace headscope::lesson
