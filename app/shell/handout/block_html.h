#pragma once

#include "app/shell/handout/hand_table.h"
#include "app/shell/handout/handout_maps.h"
#include "core/manual/glossary.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headscope::app {

/// The maps, scenes and tables of a handout, which its text refers to by their indices.
struct HandoutParts {
    /// A map with the cells that a step speaks of.
    struct Scene {
        std::size_t map = 0;
        std::int64_t head = 0, row = -1;              ///< -1: no row in focus
        std::vector<lesson::CellRange> outlined = {}; ///< cells of scores, scaled, masked or weights
        bool operator==(const Scene& other) const;
    };
    /// A question of a step.
    struct Question {
        std::string key;             ///< for the script: JSON, see answer_key()
        std::string paper, solution; ///< HTML for the worksheet and its solution
    };
    HandoutParts(const lesson::Lesson& of_lesson, engine::Engine& engine_to_use)
        : lesson(of_lesson), engine(engine_to_use), maps(engine_to_use) {}

    /// Returns the index of the scene, whose map is computed if necessary. Throws what HandoutMaps::add
    /// throws.
    std::size_t add(const lesson::StepScene& scene);

    const lesson::Lesson& lesson;
    engine::Engine& engine;
    HandoutMaps maps;
    std::vector<Scene> scenes = {};
    std::vector<HandTable> tables = {};
    std::vector<Question> questions = {};
    std::vector<const manual::Term*> terms = {}; ///< that the text names, in the order of the text
};

/// Returns the state of a scene as the program shows it.
lesson::LessonState scene_state(const HandoutMap& map, const lesson::StepScene& scene);

/// Writes the blocks of one step or question as HTML, with the numbers of its scene.
class BlockHtml {
public:
    /// `scene`: combined with the lesson's. All arguments must outlive this object. Throws what
    /// HandoutParts::add throws.
    BlockHtml(HandoutParts& parts, const lesson::StepScene& scene);

    std::string of(const std::vector<lesson::LessonBlock>& blocks);
    std::string of(const lesson::Spans& spans) const;
    /// Index of the scene among those of the page.
    std::size_t scene() const { return scene_index_; }
    const HandoutMap& map() const;
    /// Paragraphs for the solution: the tasks with what is to be seen after each.
    const std::string& solutions() const { return solutions_; }

private:
    BlockHtml(HandoutParts& parts, const lesson::StepScene& scene, std::size_t scene_index,
              lesson::LessonState state)
        : parts_(parts), scene_(scene), scene_index_(scene_index), state_(std::move(state)) {}

    std::string table(const lesson::TableBlock& block) const;
    std::string gate(const lesson::Gate& gate);
    std::string show(const lesson::ShowMe& show);
    std::string fill(const lesson::FillTable& fill);
    std::string question(const lesson::StepQuestion& question);
    std::string panel(const lesson::LessonPanel& panel) const;
    std::string callout(const lesson::Callout& callout);
    /// The attributes of an aside that appears once one question or table is done; empty if there is none.
    std::string shown_when_done(const lesson::Callout& callout) const;
    /// Index of a scene that is combined with that of the blocks; empty if the map would not change.
    std::optional<std::size_t> scene_of(const lesson::StepScene& over);
    /// A button that shows a scene in the map; empty if the map would not change.
    std::string button(const std::string& label, const lesson::StepScene& over);
    /// A link to the term in the glossary of the page.
    std::string term_link(const manual::Term& term, const std::string& text) const;
    std::string pointed_numbers(const lesson::StepScene& scene) const;

    HandoutParts& parts_;
    const lesson::StepScene& scene_;
    std::size_t scene_index_;
    lesson::LessonState state_;
    std::string solutions_;
};

} // namespace headscope::app
