#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/temporary_folder.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <array>

// Lessons that play on a checkpoint, as a learner works them.

namespace headscope::test {

using namespace headscope::app;
namespace {

struct ModelLearner : User {
    explicit ModelLearner(const Program::Options& options = {}) : User(on_cpu(options), 1600, 1000) {}

    static Program::Options on_cpu(Program::Options options) {
        options.device = "cpu";
        return options;
    }
    const CourseState& course() const { return program.state().course; }
    const Document& document() const { return *program.state().document; }
    bool away() const { return has_left_scene(course(), document()); }
    void turn_to(const std::string& id, int page) {
        act(OpenLesson{id});
        act(GoToPage{page});
        settle();
    }
    void send(const LessonAction& action) {
        act(Action(action));
        settle();
    }
};

const lesson::Gate& gate_of(const CourseState& course) {
    const auto& blocks = course.step()->blocks;
    return std::get<lesson::Gate>(*std::ranges::find_if(
        blocks, [](const auto& block) { return std::holds_alternative<lesson::Gate>(block); }));
}

} // namespace

TEST_CASE("a page with a model shows its layer and head, in the tab of the course", "[gui][lesson][model]") {
    ModelLearner learner;
    learner.turn_to("two-heads-that-copy", 1);
    REQUIRE(learner.document().is_checkpoint());
    CHECK(learner.document().part()->model->name() == "pocket");
    CHECK(learner.document().layer() == 2);
    CHECK(learner.view().head == 4);
    CHECK(learner.view().row == 14);
    CHECK(learner.view().tab == LeftTab::course);
    CHECK(learner.view().points.size() == 1);
    CHECK_FALSE(learner.away());
    CHECK(screen_shows("Step 1 of 7"));
    CHECK(screen_shows("0.995")); // the probability of drum, as PyTorch computes it
    // The next page is another layer of the same pass: nothing is added to the history.
    const DocumentPtr first = learner.program.state().document;
    learner.turn_to("two-heads-that-copy", 2);
    CHECK(learner.document().layer() == 0);
    CHECK(learner.document().part() == first->part());
    CHECK_FALSE(learner.away());
}

TEST_CASE("a lesson that is left lets its model go", "[gui][lesson][model]") {
    ModelLearner learner;
    learner.turn_to("two-heads-that-copy", 4);
    const std::weak_ptr<const checkpoint::TextModel> model = learner.document().part()->model;
    learner.act(NewProject{});
    REQUIRE_FALSE(learner.document().is_checkpoint());
    CHECK(model.expired());
}

TEST_CASE("a head is turned down, the gate opens, and one click or Ctrl Z leads back",
          "[gui][lesson][model]") {
    TemporaryFolder folder;
    Program::Options options;
    options.state_folder = folder.file("state");
    ModelLearner learner(options);
    learner.turn_to("two-heads-that-copy", 4);
    const std::string gate = gate_name(gate_of(learner.course()));
    const auto done = [&] { return learner.course().of_open().done.contains(gate); };
    CHECK_FALSE(done());
    learner.act(OpenHead{0, 4});
    CHECK_FALSE(learner.away());
    CHECK_FALSE(done());
    learner.act(SetGain{4, 0.5F});
    learner.settle();
    CHECK(learner.away());
    CHECK(done());
    CHECK(screen_shows("Back to the lesson"));
    learner.driver.key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    learner.settle();
    CHECK(learner.document().part()->edits.empty());
    CHECK_FALSE(learner.away());
    learner.driver.key(GLFW_KEY_Y, GLFW_MOD_CONTROL);
    learner.settle();
    CHECK(learner.away());
    learner.press("Back to the lesson");
    CHECK(learner.document().part()->edits.empty());
    CHECK_FALSE(learner.away());
    CHECK(learner.document().layer() == 2);
    CHECK(learner.view().tab == LeftTab::course);
    // The task stays done in the next run.
    ModelLearner again(options);
    again.act(OpenLesson{"two-heads-that-copy"});
    CHECK(again.course().of_open().done.contains(gate));
}

TEST_CASE("what follows from a button is told once it is pressed, and a second press takes it back",
          "[gui][lesson][model]") {
    ModelLearner learner;
    learner.turn_to("what-does-this-head-do", 5);
    const auto place = [](const std::string& label) {
        const auto item = std::ranges::find(screen_items(), label, &ScreenItem::label);
        REQUIRE(item != screen_items().end());
        return item->area.y;
    };
    const std::string first = "Ablate L0 H6", second = "Ablate L0 H4";
    CHECK_FALSE(screen_shows("Now it says"));
    CHECK_FALSE(screen_shows("Mary has"));
    const float y = place(first), other = place(second);
    learner.press(first);
    CHECK(learner.away());
    CHECK(screen_shows("Now it says"));
    CHECK_FALSE(screen_shows("Mary has"));
    CHECK_FALSE(screen_shows("You have changed the problem"));
    CHECK_FALSE(screen_shows("Back to the lesson"));
    CHECK(place(first) == y);
    CHECK(place(second) == other);
    learner.press(second); // in the first one's place
    CHECK(screen_shows("Mary has"));
    CHECK_FALSE(screen_shows("Now it says"));
    learner.press(second);
    CHECK_FALSE(learner.away());
    CHECK_FALSE(screen_shows("Mary has"));
}

TEST_CASE("sentences about the lesson's words go with its text", "[gui][lesson][model]") {
    ModelLearner learner;
    learner.turn_to("next-word", 2);
    CHECK(screen_shows("pocket is surer"));
    learner.act(TypePrompt{"Anna lost her"});
    learner.settle();
    CHECK_FALSE(screen_shows("pocket is surer"));
    CHECK(screen_shows("Back to the lesson"));
}

TEST_CASE("Show me changes the model of a page, and is a step that can be undone", "[gui][lesson][model]") {
    ModelLearner learner;
    learner.turn_to("what-does-this-head-do", 4);
    const lesson::Gate& gate = gate_of(learner.course());
    learner.send(ShowScene{gate.solution});
    CHECK(learner.course().of_open().done.contains(gate_name(gate)));
    REQUIRE(learner.document().part()->edits.contains(2));
    CHECK(learner.document().part()->edits.at(2).gains[7] == 0.0F);
    CHECK(learner.problem().gain(7) == 0.0F);
    REQUIRE(learner.program.state().model.predictions.has_value());
    CHECK(learner.program.state().model.predictions->likeliest.front().label == "·John");
    CHECK(learner.program.state().model.predictions->edited);
    CHECK(learner.away());
    learner.act(MoveInHistory{-1});
    learner.settle();
    CHECK(learner.document().part()->edits.empty());
    CHECK_FALSE(learner.away());
}

TEST_CASE("a text of one's own plays on, with values of its own", "[gui][lesson][model]") {
    ModelLearner learner;
    learner.turn_to("what-does-this-head-do", 7);
    learner.act(TypePrompt{"When Tom and Anna went to the shop, Anna gave a book to"});
    learner.settle();
    CHECK(learner.away());
    CHECK(learner.course().of_open().done.contains(gate_name(gate_of(learner.course()))));
    REQUIRE(learner.course().model != nullptr);
    CHECK(learner.course().model->inputs.ids == learner.document().part()->inputs->ids);
    learner.press("Back to the lesson");
    CHECK_FALSE(learner.away());
}

TEST_CASE("from a model to a preset and back, page by page and in the history", "[gui][lesson][model]") {
    ModelLearner learner;
    learner.turn_to("positions", 3);
    CHECK(learner.document().is_experiment());
    CHECK(learner.course().model == nullptr);
    learner.driver.key(GLFW_KEY_PAGE_DOWN);
    learner.settle();
    CHECK(learner.document().is_checkpoint());
    CHECK(learner.document().layer() == 0);
    learner.driver.key(GLFW_KEY_PAGE_UP);
    learner.settle();
    CHECK(learner.document().is_experiment());
    CHECK_FALSE(learner.away());
    learner.driver.key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    learner.settle();
    CHECK(learner.document().is_checkpoint());
    CHECK(learner.away());
    CHECK(learner.program.state().error.empty());
}

TEST_CASE("a page opens a screen of the model, and its gate reads what is clicked there",
          "[gui][lesson][model]") {
    ModelLearner learner;
    const auto done = [&] {
        return learner.course().of_open().done.contains(gate_name(gate_of(learner.course())));
    };
    learner.turn_to("three-measures", 1);
    CHECK(learner.view().attention.screen == Screen::effects);
    CHECK(learner.program.state().shown.effects->token == "·Mary");
    CHECK_FALSE(done());
    learner.press("effect 2.4");
    CHECK(done());

    // The part of L2 H0 grows, and its product with the norm's scale stays.
    learner.turn_to("three-measures", 2);
    CHECK(screen_shows("2.74"));
    CHECK(screen_shows("47.22"));
    learner.press("effect 2.7");
    CHECK_FALSE(done());
    learner.driver.key(GLFW_KEY_A, GLFW_MOD_SHIFT);
    learner.settle();
    CHECK(done());
    CHECK(screen_shows("2.82"));
    CHECK(screen_shows("47.22"));
    learner.press("Back to the lesson");
    CHECK_FALSE(learner.away());

    learner.turn_to("three-measures", 3);
    CHECK(learner.view().attention.effects == EffectKind::ablated);
    CHECK(screen_shows("3.92")); // L2 H7, in the text
    CHECK_FALSE(done());
    learner.press("effect 0.2");
    CHECK(done());

    learner.turn_to("three-measures", 4);
    CHECK(learner.view().attention.screen == Screen::patching);
    CHECK(learner.program.state().shown.patching->asked.kind == analysis::PatchKind::residual);
    CHECK(learner.view().attention.patch == std::array<std::int64_t, 2>{-1, -1});
    learner.press("patch 2.13");
    CHECK_FALSE(done());
    learner.press("patch 2.14");
    CHECK(done());

    learner.turn_to("three-measures", 6);
    CHECK(learner.program.state().shown.patching->asked.kind == analysis::PatchKind::head);
    CHECK(learner.view().attention.patch == std::array<std::int64_t, 2>{3, 7});
    learner.press("patch Weights");
    learner.settle();
    CHECK_FALSE(done());
    learner.press("patch Values");
    learner.settle();
    CHECK(done());
    CHECK_FALSE(learner.away());

    // Another pair of prompts: the words are then those that the prompts lead to.
    learner.turn_to("three-measures", 8);
    learner.send(ShowScene{gate_of(learner.course()).solution});
    CHECK(done());
    CHECK(learner.away());
    REQUIRE(learner.program.state().shown.patching->pair != nullptr);
    CHECK(learner.program.state().shown.patching->pair->answer == "·Tom");
    CHECK(learner.program.state().shown.patching->pair->against == "·Anna");

    // A lesson that names no screen shows the stages.
    learner.turn_to("what-does-this-head-do", 1);
    CHECK(learner.view().attention.screen == Screen::stages);
}

TEST_CASE("a button that only leads elsewhere leads back at its second press", "[gui][lesson][model]") {
    ModelLearner learner;
    learner.turn_to("what-does-this-head-do", 1);
    CHECK(learner.view().group == StageGroup::weights);
    learner.press("The two logits");
    CHECK(learner.view().group == StageGroup::logits);
    CHECK(screen_shows("on; click to undo"));
    CHECK_FALSE(learner.away());
    learner.press("The two logits");
    CHECK(learner.view().group == StageGroup::weights);
    CHECK(learner.view().head == 7);
    CHECK_FALSE(screen_shows("on; click to undo"));
    // A task that is only a look is taken back too.
    learner.press("Show me");
    CHECK(learner.document().layer() == 2);
    learner.press("Take it back");
    CHECK(learner.document().layer() == 3);
}

TEST_CASE("the inspector speaks of the number that the page speaks of", "[gui][lesson][model]") {
    ModelLearner learner;
    struct Page {
        std::string lesson;
        int page;
        std::string speaks_of;
    };
    for (const Page& one : std::vector<Page>{{"a-stack-of-layers", 2, "resid_out[0][slept, 122]"},
                                             {"a-stack-of-layers", 6, "12.8479"},
                                             {"next-word", 2, "probabilities[and, 1226]"},
                                             {"positions", 1, "weights[0][the@0, dog]"},
                                             {"positions", 3, "weights[1][down, sat]"},
                                             {"positions", 6, "weights[0][the@3, dog]"},
                                             {"two-heads-that-copy", 2, "weights[0][4][drum, rope@6]"},
                                             {"two-heads-that-copy", 6, "of the answer is recovered"},
                                             {"what-does-this-head-do", 3, "effect[2][7][to@14]"}}) {
        learner.turn_to(one.lesson, one.page);
        INFO(one.lesson << ", page " << one.page << ": " << one.speaks_of);
        CHECK(screen_shows(one.speaks_of));
    }
}

TEST_CASE("what a page points at has one frame, in a list and where a step between shows it too",
          "[gui][lesson][model]") {
    ModelLearner learner;
    for (const auto& [lesson, page] :
         {std::pair("next-word", 1), {"next-word", 3}, {"a-stack-of-layers", 3}}) {
        learner.turn_to(lesson, page);
        INFO(lesson << ", page " << page);
        const figure::Rect& pointed = learner.program.canvas().pointed_area;
        REQUIRE(pointed.w > 0);
        // The ground below the dashes of a frame.
        const auto frames = std::ranges::count_if(learner.program.canvas().scene.items, [](const auto& item) {
            const auto* const rect = std::get_if<figure::RectItem>(&item);
            return rect != nullptr && rect->stroke_width == 4.5F;
        });
        CHECK(frames == 1);
    }
}

TEST_CASE("a click on a row of the panel of heads opens that head", "[gui][lesson][model]") {
    ModelLearner learner;
    learner.turn_to("what-does-this-head-do", 3);
    REQUIRE(learner.click("panel L2 H4"));
    learner.settle();
    CHECK(learner.document().layer() == 2);
    CHECK(learner.view().head == 4);
    CHECK_FALSE(learner.away());
}

} // namespace headscope::test
