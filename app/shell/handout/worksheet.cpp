#include "app/shell/handout/worksheet.h"

#include "app/shell/handout/block_html.h"
#include "core/base/error.h"
#include "core/base/message.h"

#include <functional>
#include <utility>

namespace headscope::app {

namespace {

/// Removes what names words of the lesson's own sentence and decides no number.
lesson::StepScene without_words(lesson::StepScene scene) {
    scene.row.reset();
    scene.select.reset();
    scene.point.clear();
    return scene;
}

/// Returns the lesson with another sentence in all its scenes.
lesson::Lesson with_sentence(lesson::Lesson lesson, const std::string& sentence) {
    lesson.scene = without_words(lesson.scene);
    lesson.scene.sentence = sentence;
    const auto change = [](lesson::StepScene& scene) {
        scene = without_words(scene);
        if (!scene.preset && !scene.model)
            scene.sentence.reset();
    };
    for (lesson::Step& step : lesson.steps)
        change(step.scene);
    for (lesson::Question& question : lesson.quiz)
        change(question.scene);
    return lesson;
}

class WorksheetMaker {
public:
    /// `replaced`: the sentence is not the lesson's own.
    WorksheetMaker(const lesson::Lesson& lesson, bool replaced, engine::Engine& engine)
        : lesson_(lesson), replaced_(replaced), maps_(engine) {}

    Worksheet make() {
        out_.title = lesson_.title;
        out_.sentence = maps_.at(maps_.add(lesson_.scene)).sentence;
        for (const lesson::Step& step : lesson_.steps)
            attempt([&] {
                const lesson::StepScene scene = lesson::combine_scenes(lesson_.scene, step.scene);
                add(step.blocks, scene, maps_.at(maps_.add(scene)));
            });
        add_row_by_hand();
        int number = 0;
        for (const lesson::Question& question : lesson_.quiz) {
            const std::string seed = lesson::order_seed(lesson_.id, std::to_string(number++));
            attempt([&] {
                const lesson::StepScene scene = lesson::combine_scenes(lesson_.scene, question.scene);
                const HandoutMap& map = maps_.at(maps_.add(scene));
                out_.questions.push_back(paper_question(question, scene_state(map, scene), seed));
            });
        }
        return std::move(out_);
    }

private:
    /// Leaves out what another sentence makes impossible.
    void attempt(const std::function<void()>& add_part) const {
        try {
            add_part();
        } catch (const Error& fault) {
            if (!replaced_ || fault.kind() != ErrorKind::input)
                throw;
        }
    }

    void add(const std::vector<lesson::LessonBlock>& blocks, const lesson::StepScene& scene,
             const HandoutMap& map) {
        const lesson::LessonState state = scene_state(map, scene);
        for (const lesson::LessonBlock& block : blocks)
            if (const auto* table = std::get_if<lesson::FillTable>(&block))
                attempt([&] { out_.tables.push_back(table_of(*table, map)); });
            else if (const auto* question = std::get_if<lesson::StepQuestion>(&block))
                attempt([&] {
                    out_.questions.push_back(
                        paper_question(*question, map, state, lesson::order_seed(lesson_.id, question->id)));
                });
            else if (const auto* gate = std::get_if<lesson::Gate>(&block))
                out_.tasks.push_back({gate->task, replaced_ ? "" : words_of(gate->after, state)});
            else if (const auto* callout = std::get_if<lesson::Callout>(&block))
                add(callout->blocks, scene, map);
    }

    void add_row_by_hand() {
        for (const lesson::Step& step : lesson_.steps) {
            std::optional<HandTable> table;
            attempt([&] {
                const lesson::StepScene scene = lesson::combine_scenes(lesson_.scene, step.scene);
                if (scene.sentence == lesson_.scene.sentence || !replaced_)
                    table = row_by_hand(scene, maps_.at(maps_.add(scene)));
            });
            if (!table)
                continue;
            out_.tables.push_back(std::move(*table));
            return;
        }
    }

    const lesson::Lesson& lesson_;
    bool replaced_;
    HandoutMaps maps_;
    Worksheet out_;
};

} // namespace

Worksheet make_worksheet(const lesson::Lesson& lesson, const std::optional<std::string>& sentence,
                         engine::Engine& engine) {
    const lesson::Lesson changed = sentence ? with_sentence(lesson, *sentence) : lesson;
    Worksheet out = WorksheetMaker(changed, sentence.has_value(), engine).make();
    if (!out.tables.empty())
        return out;
    if (sentence)
        fail_input(
            tr("worksheet.no_table_for_sentence",
               "the lesson {} has no table for the sentence \"{}\"; choose one with at most ten words, "
               "or leave --sentence out",
               lesson.id, *sentence));
    fail_input(tr("worksheet.no_table",
                  "the lesson {} has no table to fill in, so it has no worksheet; headscope lesson handout "
                  "prints its questions",
                  lesson.id));
}

} // namespace headscope::app
