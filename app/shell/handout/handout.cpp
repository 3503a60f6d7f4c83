#include "app/shell/handout/handout.h"

#include "app/draw/kit/theme.h"
#include "app/shell/handout/block_html.h"
#include "app/shell/handout/closing_html.h"
#include "app/shell/handout/hand_table.h"
#include "app/shell/handout/question_html.h"
#include "app/shell/page/html.h"
#include "core/base/assets.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace headscope::app {

namespace {

using html::css, html::escaped;

constexpr int ramp_levels = 20;

/// Sentences for a preset, in addition to the lesson's own.
struct KnownSentence {
    std::string_view preset, sentence;
};
constexpr std::array known_sentences{
    KnownSentence{"first-lesson", "The dog ran down"},
    KnownSentence{"first-lesson", "The cat ran"},
    KnownSentence{"eight-experts", "The cat sat down"},
    KnownSentence{"eight-experts", "The cat saw the dog"},
    KnownSentence{"random", "The cat sat down"},
    KnownSentence{"random", "The dog ran"},
    KnownSentence{"translation", "The dog drinks water"},
};

std::string variables(const Theme& theme) {
    std::string out;
    for (const auto& [name, color] :
         {std::pair("canvas", theme.canvas), std::pair("panel", theme.panel), std::pair("raise", theme.raise),
          std::pair("line", theme.line), std::pair("line2", theme.line2), std::pair("ink", theme.ink),
          std::pair("text", theme.text), std::pair("muted", theme.muted), std::pair("hl", theme.highlight),
          std::pair("good", theme.good), std::pair("bad", theme.bad), std::pair("goodbg", theme.good_back),
          std::pair("badbg", theme.bad_back)})
        out += std::string("--") + name + ":" + css(color) + ";";
    return ":root{" + out + "}\n";
}

/// The colors of the heads, and of weights by level: .h0 .w20 is a weight of 1 in head 0.
std::string head_rules(const Theme& theme, int heads) {
    std::string out;
    for (int h = -1; h < heads; ++h) {
        const HeadColours& colors = h < 0 ? theme.no_head : theme.heads[static_cast<std::size_t>(h)];
        const std::string name = ".h" + (h < 0 ? std::string("n") : std::to_string(h));
        out += name + "{--head:" + css(colors.colour) + ";--tint:" + css(colors.tint) + "}\n";
        for (int level = 0; level <= ramp_levels; ++level) {
            const figure::Color cell =
                ramp_color(colors.ramp, static_cast<float>(level) / static_cast<float>(ramp_levels));
            out += name + " .w" + std::to_string(level) + "{background:" + css(cell) +
                   ";color:" + css(text_on(cell)) + "}\n";
        }
    }
    return out;
}

std::string style(int heads) {
    const auto colors = [&](bool dark) { return variables(theme(dark)) + head_rules(theme(dark), heads); };
    return asset("handout/handout.css") + colors(false) +
           "@media screen and (prefers-color-scheme: dark){\n" + colors(true) + "}\n";
}

nlohmann::ordered_json words() {
    // The page's script inserts the numbers and words after a $.
    return {
        {"step", tr("handout.step_chip", "Step {}", "$n")},
        {"head", tr("common.head_3", "head {}", "$n")},
        {"layer", tr("handout.layer_head", "layer {}, head {}", "$l", "$n")},
        {"of_layer", tr("handout.of_layer", "of layer {}", "$l")},
        {"both", tr("handout.both", "both")},
        {"all", tr("handout.all_heads", "all")},
        {"looks", tr("handout.looks", "“{}” looks at “{}”", "$q", "$k")},
        {"score", tr("handout.score", "score")},
        {"other", tr("handout.other_products", "{} other products", "$n")},
        {"masked", tr("handout.masked", "masked: the score becomes −∞, the weight 0")},
        {"bias", tr("handout.bias", "mask or bias added")},
        {"capped", tr("handout.capped", "soft cap")},
        {"row", tr("handout.row", "sum of exp in the row")},
        {"weight", tr("handout.weight", "weight")},
        {"right", tr("handout.right", "Right.")},
        {"wrong", tr("handout.wrong", "Not quite.")},
        {"tries", tr("handout.tries", "{} tries", "$n")},
        {"one_try", tr("handout.one_try", "1 try")},
        {"all_right", tr("handout.all_right", "All {} right.", "$n")},
        {"some_right", tr("handout.some_right", "{} of {} right.", "$r", "$n")},
        {"asked", tr("lesson_blocks.question", "Question")},
        {"answered", tr("lesson_blocks.right_answer", "Right ✓")},
        {"given", tr("lesson_blocks.answer_shown", "Answer shown")},
        {"your_answer", tr("lesson_question.your_answer", "Your answer: {}", "$a")},
        {"the_answer", tr("lesson_question.the_answer", "The answer: {}", "$a")},
        {"of_step", tr("handout.of_step", "{}, as in this step", "$s")},
        {"show_in_map", tr("handout.show_in_map", "Show it in the map")},
        {"unseen", tr("handout.unseen", "“{}” looks at “{}”: shown after your answer", "$q", "$k")},
        {"after_answer", tr("handout.after_answer", "The rest appears when the task of this step is done.")},
        {"map", tr("handout.map_name", "Attention weights, {}", "$h")}};
}

class Handout {
public:
    Handout(const lesson::Lesson& lesson, engine::Engine& engine) : lesson_(lesson), parts_(lesson, engine) {}

    std::string page(const std::vector<std::string>& wanted) {
        add_sentences(wanted);
        for (const lesson::Step& step : lesson_.steps)
            add(step);
        add_row_by_hand();
        for (const lesson::Question& question : lesson_.quiz)
            add(question);
        const std::string reading = further_reading();
        std::string empty, solved, asked, answered;
        for (const HandTable& table : parts_.tables) {
            empty += empty_table(table);
            solved += solved_table(table);
        }
        for (const HandoutParts::Question& question : parts_.questions) {
            asked += question.paper;
            answered += question.solution;
        }
        int heads = 0;
        for (std::size_t i = 0; i < parts_.maps.size(); ++i)
            if (const std::int64_t H = parts_.maps.at(i).problem.dims.H; H <= coloured_heads)
                heads = std::max(heads, static_cast<int>(H));
        return html::filled(
            asset("handout/page.html"),
            {{"language", escaped(lesson_.language)},
             {"title", escaped(lesson_.title)},
             {"style", style(heads)},
             {"script", asset("handout/handout.js")},
             {"data", data()},
             {"kind", escaped(lesson_.number < 0
                                  ? tr("handout.handout", "Handout.")
                                  : tr("handout.of_lesson", "Handout for lesson {}.", lesson_.number))},
             {"invite", escaped(tr("handout.invite", "Point at a weight to see how it was computed."))},
             {"summary", lesson_.summary.empty() ? "" : "<p>" + escaped(lesson_.summary) + "</p>\n"},
             {"figure", escaped(tr("handout.figure", "The attention weights"))},
             {"step word", escaped(tr("handout.step", "Step"))},
             {"sentence word", escaped(tr("handout.sentence", "Sentence"))},
             {"head word", escaped(tr("handout.head", "Head"))},
             {"veiled",
              escaped(tr("handout.veiled", "The weights appear once the task of this step is done."))},
             {"keys hint",
              escaped(tr("handout.keys_hint", "With the keyboard: Tab to the map, then the arrow keys."))},
             {"no script", escaped(tr("handout.no_script", "The map and the checks need JavaScript. Text, "
                                                           "questions and tables can be read without it."))},
             {"objectives", objectives()},
             {"steps word", escaped(tr("handout.steps", "The lesson"))},
             {"steps", steps_},
             {"parts word", escaped(tr("handout.parts", "Parts of the handout"))},
             {"by hand link", by_hand_.empty() ? ""
                                               : "<a href=\"#by-hand\">" +
                                                     escaped(tr("handout.by_hand", "By hand")) + "</a>"},
             {"by hand", by_hand_},
             {"quiz word", escaped(tr("handout.quiz", "Questions"))},
             {"quiz", quiz_},
             {"worksheet word", escaped(tr("handout.worksheet", "Worksheet"))},
             {"reading", reading},
             {"glossary", glossary_html(parts_.terms)},
             {"worksheet", empty + "<ol>" + asked + paper_quiz_ + "</ol>"},
             {"solution word", escaped(tr("handout.solution", "Solution"))},
             {"solution", solved + "<ol>" + answered + paper_answers_ + "</ol>" +
                              (tasks_.empty() ? ""
                                              : "<h3>" + escaped(tr("handout.tasks", "Tasks in Headscope")) +
                                                    "</h3><ul>" + tasks_ + "</ul>")},
             {"footer", footer()}});
    }

private:
    lesson::StepScene with_sentence(const std::string& sentence) const {
        lesson::StepScene over;
        over.sentence = sentence;
        return lesson::combine_scenes(lesson_.scene, over);
    }

    void add_sentences(const std::vector<std::string>& wanted) {
        sentences_.push_back(parts_.add(lesson_.scene));
        for (const std::string& sentence : wanted)
            add_sentence(with_sentence(sentence));
        if (!wanted.empty() || lesson_.scene.model)
            return;
        for (const KnownSentence& known : known_sentences)
            if (known.preset == lesson_.scene.preset)
                try {
                    add_sentence(with_sentence(std::string(known.sentence)));
                } catch (const Error&) {
                    // The lesson's scene has targets that this sentence lacks.
                }
    }

    void add_sentence(const lesson::StepScene& scene) {
        // The scene's row and outlines are words of its own sentence.
        lesson::StepScene plain = scene;
        plain.row.reset();
        plain.select.reset();
        plain.point.clear();
        const std::size_t added = parts_.add(plain);
        const auto map_of = [&](std::size_t scene_index) { return parts_.scenes[scene_index].map; };
        if (std::ranges::find(sentences_, map_of(added), map_of) == sentences_.end())
            sentences_.push_back(added);
    }

    void add(const lesson::Step& step) {
        const lesson::StepScene scene = lesson::combine_scenes(lesson_.scene, step.scene);
        BlockHtml blocks(parts_, scene);
        const std::string text = blocks.of(step.blocks);
        const std::string number = std::to_string(++step_count_);
        steps_ += "<article class=\"step\" id=\"step-" + number + "\" aria-labelledby=\"step-title-" +
                  number + "\">\n<p class=\"count\">" +
                  escaped(tr("handout.step_of", "Step {} of {}", step_count_, lesson_.steps.size())) +
                  " <button type=\"button\" class=\"quiet needs-script\" data-step=\"" +
                  std::to_string(step_count_ - 1) + "\" data-scene=\"" + std::to_string(blocks.scene()) +
                  "\">" + escaped(tr("handout.show_in_map", "Show it in the map")) +
                  "</button></p>\n<h3 id=\"step-title-" + number + "\">" + escaped(step.title) + "</h3>\n" +
                  text + "</article>\n";
        step_scenes_.push_back(blocks.scene());
        tasks_ += blocks.solutions();
    }

    void add_row_by_hand() {
        for (const lesson::Step& step : lesson_.steps) {
            const lesson::StepScene scene = lesson::combine_scenes(lesson_.scene, step.scene);
            const std::size_t map = parts_.maps.add(scene);
            std::optional<HandTable> table = row_by_hand(scene, parts_.maps.at(map));
            if (!table)
                continue;
            table->map = map;
            by_hand_ = "<div id=\"by-hand\">" + interactive_table(*table, parts_.tables.size()) + "</div>\n";
            parts_.tables.push_back(std::move(*table));
            return;
        }
    }

    void add(const lesson::Question& question) {
        const lesson::StepScene scene = lesson::combine_scenes(lesson_.scene, question.scene);
        const BlockHtml blocks(parts_, scene);
        const std::string number = std::to_string(++question_count_);
        const std::string text = blocks.of(question.text);
        const std::string seed = lesson::order_seed(lesson_.id, std::to_string(question_count_ - 1));
        std::string choices, boxes, answer;
        for (const std::size_t c : lesson::screen_order(seed, question.choices)) {
            const lesson::QuizChoice& choice = question.choices[c];
            const std::string words = blocks.of(choice.text), why = blocks.of(choice.explanation);
            choices += choice_html(words, choice.correct ? " data-right" : "", why);
            boxes += "<li>" + words + "</li>\n";
            if (choice.correct)
                answer = "<b>" + words + "</b><br>" + why;
        }
        quiz_ +=
            "<section class=\"card question\" id=\"question-" + number +
            "\" aria-labelledby=\"question-title-" + number + "\">\n<p class=\"count\">" +
            escaped(tr("handout.question_of", "Question {} of {}", question_count_, lesson_.quiz.size())) +
            "</p>\n<h3 id=\"question-title-" + number + "\" tabindex=\"-1\">" + text +
            "</h3>\n<ul class=\"choices\">\n" + choices + "</ul>\n<p class=\"told\" role=\"status\"></p>\n" +
            "<p class=\"foot\"><button type=\"button\" class=\"quiet needs-script\" data-scene=\"" +
            std::to_string(blocks.scene()) + "\">" +
            escaped(tr("handout.show_in_map", "Show it in the map")) + "</button>" +
            (question_count_ < static_cast<int>(lesson_.quiz.size())
                 ? "<button type=\"button\" class=\"next needs-script\">" +
                       escaped(tr("handout.next_question", "Next question")) + "</button>"
                 : "<button type=\"button\" class=\"again needs-script\">" +
                       escaped(tr("handout.again", "Start again")) + "</button>") +
            "</p>\n</section>\n";
        paper_quiz_ += "<li>" + text + "<ul class=\"boxes\">" + boxes + "</ul></li>\n";
        paper_answers_ += "<li>" + text + "<p>" + answer + "</p></li>\n";
    }

    std::string further_reading() {
        const BlockHtml blocks(parts_, lesson_.scene);
        return reading_html(lesson_.reading, [&](const lesson::Spans& spans) { return blocks.of(spans); });
    }

    std::string objectives() const {
        if (lesson_.objectives.empty())
            return {};
        std::string items;
        for (const std::string& objective : lesson_.objectives)
            items += "<li>" + escaped(objective) + "</li>\n";
        return "<div class=\"objectives\"><p>" + escaped(tr("handout.objectives", "Afterwards you can")) +
               "</p><ul>\n" + items + "</ul></div>\n";
    }

    std::string footer() const {
        return escaped(
            tr_n("handout.made", "Made with Headscope from “{}”, with {} problem.",
                 "Made with Headscope from “{}”, with {} problems.",
                 static_cast<std::int64_t>(parts_.maps.size()), lesson_.title, parts_.maps.size()) +
            " " + tr("handout.print", "Print: Ctrl P gives the text, a worksheet and its solution."));
    }

    /// The JSON that the page's script reads.
    std::string data() const {
        nlohmann::ordered_json scenes = nlohmann::ordered_json::array(),
                               tables = nlohmann::ordered_json::array(),
                               questions = nlohmann::ordered_json::array(),
                               hides = nlohmann::ordered_json::array();
        for (const HandoutParts::Scene& scene : parts_.scenes) {
            nlohmann::ordered_json outlined = nlohmann::ordered_json::array();
            for (const lesson::CellRange& cells : scene.outlined)
                outlined.push_back({cells.first[1], cells.count[1], cells.first[2], cells.count[2],
                                    cells.first[3], cells.count[3]});
            scenes.push_back(
                {{"map", scene.map}, {"head", scene.head}, {"row", scene.row}, {"outlined", outlined}});
        }
        for (const HandTable& table : parts_.tables) {
            nlohmann::ordered_json cells = nlohmann::ordered_json::array();
            for (const HandTable::Cell& cell : table.cells)
                cells.push_back({{"value", cell.value}, {"decimals", cell.decimals}, {"given", cell.given}});
            tables.push_back(cells);
            nlohmann::ordered_json hidden = nlohmann::ordered_json::object();
            if (!table.last_stage.empty())
                hidden["stage"] = table.last_stage;
            if (table.row >= 0)
                hidden.update({{"map", table.map}, {"head", table.head}, {"row", table.row}});
            hides.push_back(hidden);
        }
        for (const HandoutParts::Question& question : parts_.questions)
            questions.push_back(nlohmann::ordered_json::parse(question.key));
        std::string out = dump_json(nlohmann::ordered_json{{"words", words()},
                                                           {"sentences", sentences_},
                                                           {"steps", step_scenes_},
                                                           {"scenes", scenes},
                                                           {"tables", tables},
                                                           {"hides", hides},
                                                           {"questions", questions},
                                                           {"maps", parts_.maps.json()}});
        // No text of the lesson can end the script element.
        for (std::size_t at = 0; (at = out.find('<', at)) != std::string::npos;)
            out.replace(at, 1, "\\u003c");
        return out;
    }

    const lesson::Lesson& lesson_;
    HandoutParts parts_;
    std::vector<std::size_t> sentences_, step_scenes_;
    std::string steps_, by_hand_, quiz_, paper_quiz_, paper_answers_, tasks_;
    int step_count_ = 0, question_count_ = 0;
};

} // namespace

std::string handout_page(const lesson::Lesson& lesson, const std::vector<std::string>& sentences,
                         engine::Engine& engine) {
    return Handout(lesson, engine).page(sentences);
}

} // namespace headscope::app
