#include "core/base/error.h"
#include "core/base/message.h"
#include "core/lesson/directives.h"
#include "core/lesson/fields.h"

#include <algorithm>
#include <utility>

namespace headscope::lesson {

namespace {

constexpr int fewest_choices = 3, most_choices = 5;
constexpr std::size_t fewest_items = 2, most_items = 6, most_axes = 4;
constexpr int largest_decimals = 8;

void need_answer(Fields& fields, const std::string& example) {
    fields.fault("answer", tr("question_directive.no_answer",
                              "the question has no answer that can be read; add answer: {}", example));
}

NumberTask number_task(Fields& fields) {
    NumberTask task;
    bool read = false;
    fields.use("answer", [&](const std::string& text) {
        task.value = Expression::parse(text);
        read = true;
    });
    if (!read)
        need_answer(fields, "weights[0][sat, cat]");
    if (const auto decimals = fields.integer("decimals")) {
        if (*decimals < 0 || *decimals > largest_decimals)
            fields.fault("decimals",
                         tr("question_directive.decimals_range", "\"decimals\" is {}; it can be 0 to {}",
                            *decimals, largest_decimals));
        task.decimals = static_cast<int>(*decimals);
    }
    task.within = fields.number("within");
    if (task.within && !(*task.within >= 0))
        fields.fault("within", tr("question_directive.within_negative",
                                  "\"within\" is negative; give the largest accepted difference"));
    return task;
}

ShapeTask shape_task(Fields& fields) {
    ShapeTask task;
    fields.use_all("answer", [&](const std::string& text) { task.sizes.push_back(Expression::parse(text)); });
    if (task.sizes.empty() || task.sizes.size() > most_axes)
        need_answer(fields, "[T, dk]");
    return task;
}

CellTask cell_task(Fields& fields) {
    CellTask task;
    bool among = false, answer = false;
    fields.use("among", [&](const std::string& text) {
        task.among = parse_target(text);
        among = true;
    });
    if (!among)
        fields.fault("among",
                     tr("question_directive.no_among",
                        "the question has no cells to choose from; add among: \"weights[0][sat, :]\""));
    fields.use("answer", [&](const std::string& text) {
        if (text == "largest" || text == "smallest") {
            task.wanted = text == "largest" ? CellTask::Wanted::largest : CellTask::Wanted::smallest;
        } else {
            task.wanted = CellTask::Wanted::named;
            task.cell = parse_target(text);
        }
        answer = true;
    });
    if (!answer)
        need_answer(fields, "largest");
    return task;
}

TokenTask token_task(Fields& fields) {
    TokenTask task{.words = fields.texts("answer"), .many = fields.flag("many").value_or(false)};
    if (task.words.empty())
        need_answer(fields, "cat");
    if (task.words.size() > 1 && !task.many)
        fields.fault("answer", tr("question_directive.several_words",
                                  "the answer has {} words; add many: true, or give one", task.words.size()));
    return task;
}

OrderTask order_task(Fields& fields, std::vector<LessonError>& faults) {
    OrderTask task;
    for (Fields& entry : fields.maps("items")) {
        OrderTask::Item item;
        item.text = read_spans(entry.required_text("text"), entry.line(), faults);
        bool read = false;
        entry.use("value", [&](const std::string& text) {
            item.value = Expression::parse(text);
            read = true;
        });
        if (!read)
            entry.fault("value",
                        tr("question_directive.item_no_value",
                           "the item has no value that can be read; add value: weights[0][sat, cat]"));
        entry.report_unknown_entries();
        if (read)
            task.items.push_back(std::move(item));
    }
    if (task.items.size() < fewest_items || task.items.size() > most_items)
        fields.fault("items",
                     tr("question_directive.items_count", "the question has {} items; it needs {} to {}",
                        task.items.size(), fewest_items, most_items));
    return task;
}

std::optional<QuestionTask> read_task(Fields& fields, std::vector<LessonError>& faults) {
    const auto kind = fields.word("kind", {"number", "shape", "cell", "token", "order", "choice"});
    if (kind == "number")
        return number_task(fields);
    if (kind == "shape")
        return shape_task(fields);
    if (kind == "cell")
        return cell_task(fields);
    if (kind == "token")
        return token_task(fields);
    if (kind == "order")
        return order_task(fields, faults);
    if (kind == "choice")
        return ChoiceTask{read_choices(fields, faults)};
    if (!fields.text("kind"))
        fields.fault("kind",
                     tr("question_directive.no_kind", "the question has no \"kind\"; add kind: number"));
    return {};
}

Mistake read_mistake(Fields& entry, const QuestionTask& task, std::vector<LessonError>& faults) {
    Mistake mistake;
    mistake.line = entry.line();
    if (std::holds_alternative<NumberTask>(task) || std::holds_alternative<ShapeTask>(task)) {
        entry.use_all("answer",
                      [&](const std::string& text) { mistake.values.push_back(Expression::parse(text)); });
    } else {
        for (const std::string& part : entry.texts("answer"))
            mistake.answer += (mistake.answer.empty() ? "" : ", ") + part;
    }
    if (mistake.values.empty() && mistake.answer.empty())
        entry.fault("answer", tr("question_directive.mistake_no_answer",
                                 "the mistake has no answer that can be read; add answer: and why:"));
    mistake.why = read_spans(entry.required_text("why"), entry.line("why"), faults);
    entry.report_unknown_entries();
    return mistake;
}

} // namespace

std::vector<QuizChoice> read_choices(Fields& fields, std::vector<LessonError>& faults) {
    std::vector<QuizChoice> choices;
    for (Fields& entry : fields.maps("choices")) {
        QuizChoice choice;
        choice.text = read_spans(entry.required_text("text"), entry.line(), faults);
        choice.explanation = read_spans(entry.required_text("why"), entry.line(), faults);
        choice.correct = entry.flag("right").value_or(false);
        choice.last = entry.flag("last").value_or(false);
        entry.report_unknown_entries();
        choices.push_back(std::move(choice));
    }
    const auto count = static_cast<int>(choices.size());
    if (count < fewest_choices || count > most_choices)
        fields.fault("choices", tr("directives.question_choices_needs_3",
                                   "the question has {} choices; it needs 3 to 5", count));
    if (std::ranges::count(choices, true, &QuizChoice::correct) != 1)
        fields.fault("choices", tr("directives.question_needs_one_choice",
                                   "a question needs one choice with right: true"));
    return choices;
}

std::optional<StepQuestion> read_step_question(const Fence& fence, std::vector<LessonError>& faults) {
    const std::size_t before = faults.size();
    Fields fields = Fields::parse(fence.text, tr("directives.question", "the question"), fence.line, faults);
    StepQuestion question;
    question.line = fence.line;
    question.id = fields.required_text("id");
    question.text = read_spans(fields.required_text("question"), fields.line("question"), faults);
    std::optional<QuestionTask> task = read_task(fields, faults);
    if (const auto after = fields.text("after"))
        question.after = read_spans(*after, fields.line("after"), faults);
    question.show = read_inner_scene(fields, "show");
    if (!task)
        return {}; // its other entries depend on the kind
    if (!std::holds_alternative<ChoiceTask>(*task))
        for (Fields& entry : fields.maps("mistakes"))
            question.mistakes.push_back(read_mistake(entry, *task, faults));
    question.task = std::move(*task);
    fields.report_unknown_entries();
    return faults.size() == before ? std::optional(std::move(question)) : std::nullopt;
}

std::optional<Claim> read_claim(const Fence& fence, std::vector<LessonError>& faults) {
    Fields fields =
        Fields::parse(fence.text, tr("question_directive.claim", "the claim"), fence.line, faults);
    Claim claim;
    claim.line = fence.line;
    claim.says = fields.required_text("says");
    claim.source = fields.text("source").value_or("");
    const bool asked = fields.text("holds").has_value();
    fields.use("holds", [&](const std::string& text) { claim.holds = Expression::parse(text); });
    claim.scene = read_inner_scene(fields, "scene");
    if (!asked && claim.source.empty())
        fields.fault("holds",
                     tr("question_directive.claim_no_evidence",
                        "the claim has no evidence; add holds: weights[0][sat, cat] > 0.5, or source: "
                        "\"Vaswani et al. 2017, section 3.2\""));
    fields.report_unknown_entries();
    return claim;
}

} // namespace headscope::lesson
