#include "app/shell/handout/block_html.h"

#include "app/draw/kit/rich_text.h"
#include "app/shell/handout/panel_html.h"
#include "app/shell/handout/question_html.h"
#include "app/shell/page/html.h"
#include "app/shell/page/math_html.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"
#include "core/lesson/check.h"
#include "core/lesson/questions/step_tasks.h"
#include "core/manual/manual.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace headscope::app {

namespace {

using html::escaped;

std::string element(const std::string& name, const std::string& inside) {
    return "<" + name + ">" + inside + "</" + name + ">";
}

std::string callout_title(const std::string& kind) {
    if (kind == "try")
        return tr("handout.try", "Try it");
    if (kind == "warning")
        return tr("handout.warning", "Mind");
    return tr("handout.note", "Note");
}

/// Where the statement of a claim comes from.
std::string source(const lesson::Claim& claim) {
    return claim.source.empty()
               ? ""
               : "<p class=\"source\">" + escaped(tr("lesson_blocks.source", "Source: {}", claim.source)) +
                     "</p>";
}

/// A task that needs the program.
std::string in_program(const std::string& task) {
    return "<p class=\"kind\">" + escaped(tr("handout.in_program", "In Headscope")) + "</p>" +
           element("p", task);
}

/// The term of the glossary that a span introduces or links to; null if there is none.
const manual::Term* term_of(const lesson::Span& span) {
    if (!span.term.empty())
        return manual::term_named(span.term);
    const std::optional<manual::Place> place = manual::place_of(span.link);
    return place && place->page == "glossary" ? manual::find_term(place->anchor) : nullptr;
}

std::string first_sentence(const std::string& text) {
    const auto end = text.find(". ");
    return end == std::string::npos ? text : text.substr(0, end + 1);
}

bool is_shown_in_map(const lesson::Target& target) {
    return is_score(target.tensor);
}

} // namespace

lesson::LessonState scene_state(const HandoutMap& map, const lesson::StepScene& scene) {
    lesson::LessonState state = map.state();
    if (scene.stage)
        state.stage = group_info(*scene.stage).label;
    state.head = scene.head.value_or(0);
    if (scene.row && scene.row->kind != lesson::TargetIndex::Kind::all)
        state.row = lesson::query_row(*scene.row, map.problem);
    if (scene.select)
        state.selected = lesson::resolve(*scene.select, map.problem);
    if (scene.screen)
        state.screen = *scene.screen;
    if (scene.patched)
        state.patched = *scene.patched;
    state.patch = scene.patch.value_or(state.patch);
    return state;
}

bool HandoutParts::Scene::operator==(const Scene& other) const {
    const auto same_cells = [](const lesson::CellRange& a, const lesson::CellRange& b) {
        return a.first == b.first && a.count == b.count;
    };
    return map == other.map && head == other.head && row == other.row &&
           std::ranges::equal(outlined, other.outlined, same_cells);
}

std::size_t HandoutParts::add(const lesson::StepScene& scene) {
    Scene out{.map = maps.add(scene)};
    const HandoutMap& map = maps.at(out.map);
    const lesson::LessonState state = scene_state(map, scene);
    out.row = state.row;
    std::vector<lesson::Target> targets = scene.point;
    if (scene.select)
        targets.push_back(*scene.select);
    std::erase_if(targets, [](const lesson::Target& target) { return !is_shown_in_map(target); });
    for (const lesson::Target& target : targets)
        out.outlined.push_back(lesson::resolve(target, map.problem));
    out.head = scene.head.value_or(out.outlined.empty() ? 0 : out.outlined.front().first[1]);
    const auto known = std::ranges::find(scenes, out);
    if (known != scenes.end())
        return static_cast<std::size_t>(known - scenes.begin());
    scenes.push_back(std::move(out));
    return scenes.size() - 1;
}

BlockHtml::BlockHtml(HandoutParts& parts, const lesson::StepScene& scene)
    : parts_(parts), scene_(scene), scene_index_(parts.add(scene)),
      state_(scene_state(parts.maps.at(parts.scenes[scene_index_].map), scene)) {}

const HandoutMap& BlockHtml::map() const {
    return parts_.maps.at(parts_.scenes[scene_index_].map);
}

std::string BlockHtml::of(const lesson::Spans& spans) const {
    std::string out;
    for (const lesson::Span& span : spans) {
        std::string text = escaped(plain_text(span, state_));
        if (span.value)
            text = "<span class=\"value\">" + text + "</span>";
        if (span.style == lesson::SpanStyle::strong)
            text = element("strong", text);
        else if (span.style == lesson::SpanStyle::emphasis)
            text = element("em", text);
        else if (span.style == lesson::SpanStyle::code)
            text = element("code", text);
        // Of the pages of the manual, which are in the program, the handout has the terms of the glossary.
        if (span.link.starts_with("http"))
            text = "<a href=\"" + escaped(span.link) + "\">" + text + "</a>";
        else if (const manual::Term* const term = term_of(span))
            text = term_link(*term, text);
        out += text;
    }
    return out;
}

std::string BlockHtml::term_link(const manual::Term& term, const std::string& text) const {
    if (std::ranges::find(parts_.terms, &term) == parts_.terms.end())
        parts_.terms.push_back(&term);
    return "<a class=\"term\" href=\"#term-" + term.anchor + "\" title=\"" +
           escaped(first_sentence(manual::definition_of(term).text)) + "\">" + text + "</a>";
}

std::string BlockHtml::of(const std::vector<lesson::LessonBlock>& blocks) {
    std::string out;
    for (const lesson::LessonBlock& block : blocks)
        out += std::visit(Overloaded{[&](const lesson::Paragraph& b) { return element("p", of(b.spans)); },
                                     [&](const lesson::Heading& b) { return element("h4", of(b.spans)); },
                                     [&](const lesson::ListBlock& b) {
                                         std::string items;
                                         for (const lesson::Spans& item : b.items)
                                             items += element("li", of(item));
                                         return element(b.numbered ? "ol" : "ul", items);
                                     },
                                     [&](const lesson::TableBlock& b) { return table(b); },
                                     [&](const lesson::CodeBlock& b) {
                                         return element("pre", element("code", escaped(b.text)));
                                     },
                                     [&](const lesson::FormulaBlock& b) {
                                         return html::math(lesson::parse_formula(b.tex));
                                     },
                                     [&](const lesson::Gate& b) { return gate(b); },
                                     [&](const lesson::FillTable& b) { return fill(b); },
                                     [&](const lesson::ShowMe& b) { return show(b); },
                                     [&](const lesson::LessonPanel& b) { return panel(b); },
                                     [&](const lesson::StepQuestion& b) { return question(b); },
                                     [&](const lesson::Claim& b) { return source(b); },
                                     [&](const lesson::Callout& b) { return callout(b); }},
                          block) +
               "\n";
    return out;
}

std::string BlockHtml::table(const lesson::TableBlock& block) const {
    std::string head, body;
    for (const lesson::Spans& cell : block.header)
        head += "<th scope=\"col\">" + of(cell) + "</th>";
    for (const std::vector<lesson::Spans>& row : block.rows) {
        std::string cells;
        for (std::size_t i = 0; i < row.size(); ++i)
            cells += i == 0 ? "<th scope=\"row\">" + of(row[i]) + "</th>" : element("td", of(row[i]));
        body += element("tr", cells) + "\n";
    }
    return html::scrolling(element("table", element("thead", element("tr", head)) + element("tbody", body)));
}

std::optional<std::size_t> BlockHtml::scene_of(const lesson::StepScene& over) {
    const bool visible = lesson::changes_problem(over) || over.head || over.layer ||
                         std::ranges::any_of(over.point, is_shown_in_map) ||
                         (over.select && is_shown_in_map(*over.select));
    if (!visible)
        return {};
    return parts_.add(lesson::combine_scenes(scene_, over));
}

std::string BlockHtml::button(const std::string& label, const lesson::StepScene& over) {
    const std::optional<std::size_t> shown = scene_of(over);
    if (!shown)
        return {};
    return "<button type=\"button\" class=\"needs-script\" data-scene=\"" + std::to_string(*shown) + "\">" +
           escaped(label) + "</button>";
}

std::string BlockHtml::gate(const lesson::Gate& gate) {
    std::string after = of(gate.after);
    if (!after.empty())
        after = element("p", after);
    solutions_ += element("li", escaped(gate.task) + after) + "\n";
    const std::string map = button(tr("handout.show_in_map", "Show it in the map"), gate.solution);
    std::string out = "<aside class=\"task\">" + in_program(escaped(gate.task));
    if (!after.empty() || !map.empty())
        out += element("details",
                       element("summary", escaped(tr("handout.result", "What you will see"))) + after + map);
    return out + "</aside>";
}

std::string BlockHtml::pointed_numbers(const lesson::StepScene& scene) const {
    constexpr std::int64_t most = 8;
    const HandoutMap& map = parts_.maps.at(parts_.scenes[scene_index_].map);
    std::string out;
    for (const lesson::Target& target : scene.point) {
        const lesson::CellRange range = lesson::resolve(target, map.problem);
        const Tensor* const tensor = map.tensor(target.tensor);
        if (tensor == nullptr || range.size() > most)
            continue;
        std::string numbers;
        for (const float value : lesson::values_of(range, *tensor))
            numbers += (numbers.empty() ? "" : ", ") + lesson::with_decimals(static_cast<double>(value), 2);
        out += element("li", element("code", escaped(lesson::target_text(target))) + " = " + numbers);
    }
    return out.empty() ? "" : element("ul", out);
}

std::string BlockHtml::show(const lesson::ShowMe& show) {
    if (const std::string shown = button(show.label, show.scene); !shown.empty())
        return "<p class=\"shows\">" + shown + "</p>";
    const std::string numbers = pointed_numbers(show.scene);
    return numbers.empty() ? "" : element("p", element("b", escaped(show.label))) + numbers;
}

std::string BlockHtml::fill(const lesson::FillTable& fill) {
    parts_.tables.push_back(table_of(fill, map()));
    return interactive_table(parts_.tables.back(), parts_.tables.size() - 1);
}

std::string BlockHtml::question(const lesson::StepQuestion& question) {
    const std::string number = std::to_string(parts_.questions.size()), label = "asked-" + number;
    const SpansToHtml html = [this](const lesson::Spans& spans) { return of(spans); };
    const QuestionHtml written =
        question_html(question, map(), lesson::order_seed(parts_.lesson.id, question.id), label, html);
    const std::string text = of(question.text), after = of(question.after);
    nlohmann::ordered_json key = answer_key(question, state_, html);
    const std::string answer = key["answer"].get<std::string>();
    key["id"] = question.id;
    key["after"] = after;
    if (asks_about_attention(question))
        key["stage"] = state_.stage; // until the answer, the map shows no later one
    if (const auto shown = scene_of(question.show); shown && *shown != scene_index_)
        key["scene"] = *shown;
    parts_.questions.push_back(
        {.key = key.dump(),
         .paper = "<li>" + text + written.paper + "</li>\n",
         .solution = "<li>" + text + "<p><b>" + escaped(answer) + "</b><br>" + after + "</p></li>\n"});
    return "<section class=\"card asked\" data-asked=\"" + number + "\" aria-labelledby=\"" + label +
           "\">\n<p class=\"kind\">" + escaped(tr("lesson_blocks.question", "Question")) +
           "</p>\n<div class=\"text\" id=\"" + label + "\">" + text +
           "</div>\n<div class=\"fields needs-script\">" + written.fields +
           "</div>\n<div class=\"told\" role=\"status\"></div>\n"
           "<p class=\"needs-script\"><button type=\"button\" class=\"quiet give\" aria-describedby=\"" +
           label + "\">" + escaped(tr("lesson_question.show_answer", "Show the answer")) +
           "</button></p>\n</section>";
}

std::string BlockHtml::panel(const lesson::LessonPanel& panel) const {
    const HandoutMap& shown = map();
    const std::string table =
        panel_table(lesson::compute_panel(panel, {}, shown.problem, shown.model.get(), parts_.engine));
    if (lesson::knobs_of(panel, {}).empty())
        return table;
    return table + "<aside class=\"task\">" +
           in_program(escaped(tr("handout.panel", "This step has sliders, which recompute its numbers."))) +
           "</aside>";
}

std::string BlockHtml::callout(const lesson::Callout& callout) {
    std::string attributes;
    if (!lesson::is_shown(callout, state_)) {
        attributes = shown_when_done(callout);
        if (attributes.empty())
            return {};
    }
    BlockHtml inside(parts_, scene_, scene_index_, lesson::state_inside(callout, state_));
    const std::string blocks = inside.of(callout.blocks);
    solutions_ += inside.solutions();
    if (callout.when)
        return attributes.empty() ? blocks : "<div" + attributes + ">" + blocks + "</div>";
    return "<aside class=\"note\"><p class=\"kind\">" + escaped(callout_title(callout.kind)) + "</p>\n" +
           blocks + "</aside>";
}

std::string BlockHtml::shown_when_done(const lesson::Callout& callout) const {
    for (const std::string& id : lesson::task_ids(parts_.lesson)) {
        lesson::LessonState state = state_;
        state.done = {id};
        if (lesson::is_shown(callout, state))
            return " hidden data-when-done=\"" + escaped(id) + "\"";
    }
    return {};
}

} // namespace headscope::app
