#include "app/shell/handout/question_html.h"

#include "app/shell/handout/hand_table.h"
#include "app/shell/page/html.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"

#include <variant>

namespace headscope::app {

namespace {

using html::escaped;

const std::string blank = "<span class=\"blank\"></span>";

std::string check_button() {
    return "<button type=\"submit\">" + escaped(tr("lesson_question.check", "Check")) + "</button>";
}

class QuestionWriter {
public:
    QuestionWriter(const HandoutMap& map, const std::string& seed, const std::string& label,
                   const SpansToHtml& html)
        : map_(map), seed_(seed), label_(label), html_(html) {}

    QuestionHtml of(const lesson::NumberTask&) const {
        return typed(tr("lesson_question.number", "Your answer, a number"), "decimal");
    }
    QuestionHtml of(const lesson::ShapeTask&) const {
        return typed(tr("lesson_question.shape", "Your answer, the sizes, such as 3 x 5"), "text");
    }

    /// The cells as a table of buttons. The largest or smallest of several numbers is asked for without them.
    QuestionHtml of(const lesson::CellTask& task) const {
        const bool hidden = task.wanted != lesson::CellTask::Wanted::named;
        const HandTable table = cells_table(task.among, 2, map_);
        const std::string hint =
            escaped(tr("question_html.choose_cell", "Choose a cell of {}.", lesson::target_text(task.among)));
        const auto cell = [&](std::size_t n, const std::string& name) {
            const std::string number = hidden ? "" : printed(table.cells[n]);
            return "<button type=\"button\" class=\"cell\" data-answer=\"" + std::to_string(n) +
                   "\" aria-label=\"" + escaped(number.empty() ? name : name + ": " + number) + "\">" +
                   (number.empty() ? "?" : number) + "</button>";
        };
        return {.fields = "<p class=\"hint\">" + hint + "</p>" + print_table(table, cell),
                .paper = "<p>" + hint + "</p>" + print_table(table, [&](std::size_t n, const std::string&) {
                             return hidden ? blank : printed(table.cells[n]);
                         })};
    }

    QuestionHtml of(const lesson::TokenTask& task) const {
        std::string words, boxes;
        for (std::int64_t at = 0; at < map_.problem.dims.Tq; ++at) {
            const std::string word = escaped(map_.problem.query_label(at));
            words += "<button type=\"button\" class=\"chip\" data-answer=\"" + std::to_string(at) + "\"" +
                     (task.many ? " aria-pressed=\"false\"" : "") + ">" + word + "</button>";
            boxes += "<li>" + word + "</li>";
        }
        const std::string group =
            "<div class=\"words\" role=\"group\" aria-labelledby=\"" + label_ + "\">" + words + "</div>";
        return {.fields = task.many ? "<form novalidate>" + group + check_button() + "</form>" : group,
                .paper = "<ul class=\"boxes in-line\">" + boxes + "</ul>"};
    }

    QuestionHtml of(const lesson::OrderTask& task) const {
        std::string items, lines;
        for (const std::size_t item : lesson::shuffled(seed_, task.items.size())) {
            const std::string words = html_(task.items[item].text);
            items += "<li><button type=\"button\" class=\"choice\" data-item=\"" + std::to_string(item + 1) +
                     "\" aria-pressed=\"false\"><span class=\"mark\"></span><span>" + words +
                     "</span></button></li>\n";
            lines += "<li>" + blank + " " + words + "</li>";
        }
        return {.fields = "<form novalidate><p class=\"hint\">" +
                          escaped(tr("lesson_question.order", "Click from the largest to the smallest")) +
                          "</p>\n<ul class=\"choices\" role=\"group\" aria-labelledby=\"" + label_ + "\">\n" +
                          items + "</ul>" + check_button() + "</form>",
                .paper = "<p>" +
                         escaped(tr("question_html.number_items",
                                    "Number them from the largest, 1, to the smallest.")) +
                         "</p><ul class=\"plain\">" + lines + "</ul>"};
    }

    QuestionHtml of(const lesson::ChoiceTask& task) const {
        std::string choices, boxes;
        for (const std::size_t c : lesson::screen_order(seed_, task.choices)) {
            const std::string words = html_(task.choices[c].text);
            choices += choice_html(words, " data-answer=\"" + std::to_string(c + 1) + "\"", "");
            boxes += "<li>" + words + "</li>";
        }
        return {.fields = "<ul class=\"choices\" aria-labelledby=\"" + label_ + "\">\n" + choices + "</ul>",
                .paper = "<ul class=\"boxes\">" + boxes + "</ul>"};
    }

private:
    QuestionHtml typed(const std::string& label, const std::string& keyboard) const {
        return {.fields = "<form class=\"typed\" novalidate><label>" + escaped(label) +
                          "<input inputmode=\"" + keyboard +
                          "\" autocomplete=\"off\" size=\"10\" aria-describedby=\"" + label_ + "\"></label>" +
                          check_button() + "</form>",
                .paper = "<p>" + blank + "</p>"};
    }

    const HandoutMap& map_;
    const std::string &seed_, &label_;
    const SpansToHtml& html_;
};

} // namespace

QuestionHtml question_html(const lesson::StepQuestion& question, const HandoutMap& map,
                           const std::string& seed, const std::string& label, const SpansToHtml& html) {
    const QuestionWriter writer(map, seed, label, html);
    return std::visit([&](const auto& task) { return writer.of(task); }, question.task);
}

std::string choice_html(const std::string& words, const std::string& attributes, const std::string& why) {
    return "<li><button type=\"button\" class=\"choice\"" + attributes +
           "><span class=\"mark\" aria-hidden=\"true\"></span><span>" + words +
           "</span></button><p class=\"why\" hidden>" + why + "</p></li>\n";
}

} // namespace headscope::app
