#include "app/shell/handout/answer_key.h"

#include "core/base/joined.h"
#include "core/base/overloaded.h"
#include "core/lesson/questions/answer_text.h"
#include "core/lesson/questions/grade.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <span>
#include <vector>

namespace headscope::app {

namespace {

using Json = nlohmann::ordered_json;
using Verdict = lesson::Grade::Verdict;

class AnswerKey {
public:
    AnswerKey(const lesson::StepQuestion& question, const lesson::LessonState& state, const SpansToHtml& html)
        : question_(question), state_(state), html_(html) {}

    Json json() {
        const std::string right = lesson::right_answer(question_, state_);
        key_["answer"] = lesson::printed_answer(question_, right, state_);
        key_["hints"] = Json::object();
        std::visit([&](const auto& task) { add(task, right); }, question_.task);
        return std::move(key_);
    }

private:
    lesson::Grade graded(const std::string& answer) const { return lesson::grade(question_, answer, state_); }
    /// Keeps the hint that the program gives for this answer.
    void add_hint(const std::string& name, const std::string& answer) {
        key_["hints"][name] = graded(answer).hint;
    }

    void add(const lesson::NumberTask& task, const std::string&) {
        key_["kind"] = "number";
        key_["value"] = task.value.number(state_);
        key_["within"] = lesson::accepted_difference(task);
        const std::string large = lesson::wrong_answer(question_, state_);
        add_hint("large", large);
        add_hint("small", "-" + large);
        add_hint("unreadable", "");
        key_["mistakes"] = Json::array();
        for (const lesson::Mistake& mistake : question_.mistakes)
            if (const auto meant = lesson::numbers_meant(lesson::answer_of(mistake, question_, state_));
                !meant.empty())
                key_["mistakes"].push_back({{"value", meant.front()}, {"why", html_(mistake.why)}});
    }

    void add(const lesson::ShapeTask&, const std::string& right) {
        key_["kind"] = "shape";
        const std::vector<std::int64_t> sizes = lesson::sizes_in(right);
        key_["sizes"] = sizes;
        add_hint("unreadable", "");
        add_hint("axes", right + " × 1");
        add_hint("sizes", lesson::wrong_answer(question_, state_));
        std::vector<std::int64_t> turned = sizes;
        if (std::ranges::next_permutation(turned); turned != sizes)
            add_hint("order", joined(turned, std::identity(), " × "));
        key_["whys"] = Json::object();
        for (const lesson::Mistake& mistake : question_.mistakes)
            add_why(shape_text(lesson::answer_of(mistake, question_, state_)), mistake.why);
    }

    void add(const lesson::CellTask& task, const std::string&) {
        add_verdicts("one", lesson::cell_answers(lesson::resolve(task.among, state_.problem)), true);
    }

    void add(const lesson::TokenTask& task, const std::string&) {
        std::vector<std::int64_t> all(static_cast<std::size_t>(state_.problem.dims.Tq));
        std::iota(all.begin(), all.end(), std::int64_t{0});
        if (!task.many) {
            std::vector<std::string> answers;
            for (const std::int64_t at : all)
                answers.push_back(std::to_string(at));
            return add_verdicts("one", answers, false);
        }
        key_["kind"] = "many";
        const std::set<std::int64_t> words = positions(task.words);
        key_["words"] = words;
        add_hint("unreadable", "");
        if (words.size() > 1)
            add_hint("missing", std::to_string(*words.begin()));
        std::vector<std::int64_t> others;
        std::ranges::set_difference(all, words, std::back_inserter(others));
        for (std::size_t n = 1; n <= others.size(); ++n)
            add_hint("extra " + std::to_string(n), joined(std::span(others).first(n)));
        key_["whys"] = Json::object();
        for (const lesson::Mistake& mistake : question_.mistakes)
            add_why(joined(positions(lesson::parts_of(mistake.answer, ','))), mistake.why);
    }

    void add(const lesson::OrderTask& task, const std::string&) {
        std::vector<std::size_t> order(task.items.size());
        std::iota(order.begin(), order.end(), std::size_t{1});
        std::vector<std::string> answers;
        do
            answers.push_back(joined(order));
        while (std::ranges::next_permutation(order).found);
        add_verdicts("order", answers, false);
        add_hint("unreadable", "");
    }

    void add(const lesson::ChoiceTask& task, const std::string&) {
        std::vector<std::string> answers;
        for (std::size_t n = 1; n <= task.choices.size(); ++n)
            answers.push_back(std::to_string(n));
        add_verdicts("one", answers, false);
    }

    /// The verdict on each of all possible answers. by_number: the page names them by their numbers.
    void add_verdicts(const std::string& kind, const std::vector<std::string>& answers, bool by_number) {
        key_["kind"] = kind;
        key_["right"] = Json::array();
        key_["verdicts"] = key_["whys"] = Json::object();
        std::vector<std::string> hints;
        for (std::size_t n = 0; n < answers.size(); ++n) {
            const std::string name = by_number ? std::to_string(n) : answers[n];
            const lesson::Grade grade = graded(answers[n]);
            if (grade.why != nullptr)
                add_why(name, *grade.why);
            if (grade.verdict == Verdict::right) {
                key_["right"].push_back(name);
                continue;
            }
            const auto known = std::ranges::find(hints, grade.hint);
            key_["verdicts"][name] = known - hints.begin();
            if (known == hints.end())
                hints.push_back(grade.hint);
        }
        for (std::size_t n = 0; n < hints.size(); ++n)
            key_["hints"][std::to_string(n)] = hints[n];
    }

    void add_why(const std::string& answer, const lesson::Spans& why) { key_["whys"][answer] = html_(why); }

    static std::string shape_text(const std::string& typed) {
        return joined(lesson::sizes_in(typed), std::identity(), " × ");
    }

    std::set<std::int64_t> positions(const std::vector<std::string>& words) const {
        std::set<std::int64_t> found;
        for (const std::string& word : words)
            found.insert(lesson::query_row(lesson::parse_index(word), state_.problem));
        return found;
    }

    const lesson::StepQuestion& question_;
    const lesson::LessonState& state_;
    const SpansToHtml& html_;
    Json key_;
};

bool reads_attention(const lesson::Expression& expression) {
    static const std::set<std::string> arithmetic{"sqrt", "exp", "ln", "abs", "round"};
    return !expression.targets().empty() ||
           std::ranges::any_of(expression.functions(),
                               [&](const std::string& name) { return !arithmetic.contains(name); });
}

} // namespace

bool asks_about_attention(const lesson::StepQuestion& question) {
    return std::visit(Overloaded{[](const lesson::NumberTask& task) { return reads_attention(task.value); },
                                 [](const lesson::ShapeTask&) { return false; },
                                 [](const lesson::CellTask& task) {
                                     return task.wanted != lesson::CellTask::Wanted::named;
                                 },
                                 [](const lesson::OrderTask& task) {
                                     return std::ranges::any_of(task.items, reads_attention,
                                                                &lesson::OrderTask::Item::value);
                                 },
                                 [](const auto&) { return true; }},
                      question.task);
}

Json answer_key(const lesson::StepQuestion& question, const lesson::LessonState& state,
                const SpansToHtml& html) {
    return AnswerKey(question, state, html).json();
}

} // namespace headscope::app
