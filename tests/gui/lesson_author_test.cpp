#include "app/lesson/step_writer.h"
#include "core/base/file.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/engine/engine.h"
#include "core/lesson/check.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>
#include <string>

// Authors of lessons: a step from the present view, and files that are read again.

namespace headscope::test {

using namespace headscope::app;
namespace {

std::string front_matter(const std::string& id = "mine") {
    return "---\nid: " + id +
           "\ntitle: Mine\nminutes: 1\ndifficulty: beginner\npreset: first-lesson\n"
           "sentence: The cat sat down\n---\n";
}

const std::string quiz = "\n## Quiz\n```quiz\nquestion: Q\nchoices:\n- {text: a, why: b, right: true}\n"
                         "- {text: c, why: d}\n- {text: e, why: f}\n```\n";

/// A lesson of one step with these words.
std::string own_lesson(const std::string& words, const std::string& row = "sat") {
    return front_matter() + "\n## First\n```step\nstage: weights\nrow: " + row + "\n```\n" + words + quiz;
}

/// Returns the step that the command copies.
std::string copied_step(User& user) {
    user.act(CopyLessonStep{});
    CHECK(user.program.state().error.empty());
    return user.driver.clipboard;
}

/// Checks a lesson with the step, and opens its page.
void open_step(User& user, const TemporaryFolder& folder, const std::string& step) {
    const std::string text = with_step(front_matter() + quiz, step), path = folder.file("mine.md");
    INFO(text);
    const lesson::ParsedLesson parsed = lesson::parse_lesson(text, path);
    for (const lesson::LessonError& fault : parsed.faults)
        FAIL_CHECK(fault.line << ": " << fault.sentence);
    for (const lesson::LessonError& fault :
         lesson::check_lesson(parsed.lesson, *engine::make_engine("cpu"), nullptr))
        FAIL_CHECK(fault.line << ": " << fault.sentence);
    write_file_atomically(path, text);
    user.open(path);
    user.act(GoToPage{1});
}

} // namespace

TEST_CASE("a step from the view of a problem shows the same numbers and the same view", "[gui][author]") {
    const TemporaryFolder folder;
    User user("first-lesson", "The cat didn't \"sit\" down");
    user.act(SetMask{project::MaskChoice::causal});
    user.act(SetGain{1, 0.25F});
    user.act(EditCell{CellAddress{TensorId::W_Q, {1, 2, 0, 0}}, 0.1F});
    user.act(EditCell{CellAddress{TensorId::x, {0, 1, 3}}, -2.5F});
    user.act(SetTemperature{1.5F});
    user.act(GoTo{StageGroup::weights, 2});
    user.act(PickHead{1});
    user.act(ShowWeightsAs{WeightsView::arcs});
    user.act(Select{CellAddress{TensorId::weights, {0, 1, 2, 1}}});
    const std::string step = copied_step(user);
    const Problem before = user.problem();

    User other;
    open_step(other, folder, step);
    const Problem& after = other.problem();
    CHECK(after.tokens == before.tokens);
    CHECK(std::ranges::equal(after.x->values(), before.x->values()));
    CHECK(std::ranges::equal(after.input(TensorId::W_Q)->values(), before.input(TensorId::W_Q)->values()));
    CHECK(after.gain(1) == 0.25F);
    CHECK(after.temperature == 1.5F);
    CHECK(after.mask.size() == before.mask.size());
    CHECK(other.view().group == StageGroup::weights);
    CHECK(other.view().row == 2);
    CHECK(other.view().head == 1);
    CHECK(other.view().weights_view == WeightsView::arcs);
    CHECK(other.view().selected == CellAddress{TensorId::weights, {0, 1, 2, 1}});
}

TEST_CASE("a step keeps preset, heads, a painted mask and what a stage shows", "[gui][author]") {
    const TemporaryFolder folder;
    User user("eight-experts", "The cat saw the dog");
    user.act(SetHeads{4});
    user.act(SetKvHeads{2});
    user.act(GoTo{StageGroup::weights});
    user.act(PaintMask{0, 0, 2, 1, false});
    user.act(GoTo{StageGroup::qkv});
    user.act(ShowProjection{Projection::k});
    const std::string step = copied_step(user);
    const Problem before = user.problem();
    User other;
    open_step(other, folder, step);
    CHECK(other.problem().dims == before.dims);
    CHECK(other.view().group == StageGroup::qkv);
    CHECK(other.view().projection == Projection::k);
    const MaskRows was(before.mask, before.dims), now(other.problem().mask, before.dims);
    for (std::int64_t h = 0; h < before.dims.H; ++h)
        for (std::int64_t i = 0; i < before.dims.Tq; ++i)
            for (std::int64_t j = 0; j < before.dims.Tk; ++j)
                CHECK(now.allows(0, h, i, j) == was.allows(0, h, i, j));
}

TEST_CASE("a step from the view of a model shows its layer, head, gains and screen", "[gui][author]") {
    const TemporaryFolder folder;
    User user;
    user.open(checkpoint::model_folder("pocket"), "When Mary and John went to the shop, John gave a rope to");
    user.act(OpenHead{2, 3});
    user.act(SetGain{3, 0.0F});
    user.act(GoTo{StageGroup::weights, 4});
    const std::string step = copied_step(user);
    CHECK(step.find("model: pocket") != std::string::npos);
    CHECK(step.find("gain: {\"2.3\": 0}") != std::string::npos);
    user.act(ShowScreen{Screen::effects});
    const std::string effects = copied_step(user);
    CHECK(effects.find("screen: effects") != std::string::npos);
    User other;
    open_step(other, folder, step);
    REQUIRE(other.program.state().document->is_checkpoint());
    CHECK(other.program.state().document->part()->prompt == user.program.state().document->part()->prompt);
    CHECK(other.view().attention.layer == 2);
    CHECK(other.view().head == 3);
    CHECK(other.view().row == 4);
    CHECK(other.problem().gain(3) == 0);
}

TEST_CASE("a view that a lesson cannot show is refused with the reason", "[gui][author]") {
    User user;
    user.open(test_data("/attention/lh_f32.npy"));
    user.act(CopyLessonStep{});
    CHECK(user.program.state().error.find("cannot show attention weights of a file") != std::string::npos);
    user.act(AppendLessonStep{});
    CHECK(user.program.state().error.find("open a lesson file of your own") != std::string::npos);
}

TEST_CASE("a step is added to the file of the open lesson before its quiz", "[gui][author]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("mine.md");
    write_file_atomically(path, own_lesson("Five words are enough here."));
    User user;
    user.open(path);
    user.act(GoToPage{1});
    user.act(GoTo{StageGroup::scores});
    user.act(AppendLessonStep{});
    CHECK(user.program.state().error.empty());
    const std::string text = read_file(path);
    CHECK(text.find("stage: \"scores\"") < text.find("## Quiz"));
    const lesson::ParsedLesson parsed = lesson::parse_lesson(text, path);
    CHECK(parsed.faults.empty());
    CHECK(parsed.lesson.steps.size() == 2);
    user.driver.wait(3); // the window reads the file again
    CHECK(user.program.state().course.steps() == 2);
    CHECK(user.program.state().course.page == 1);
    CHECK(user.view().group == StageGroup::scores); // the page has the same scene, so the view stays
}

TEST_CASE("an open lesson follows its file, and keeps the former version while that has a fault",
          "[gui][author]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("mine.md");
    write_file_atomically(path, own_lesson("The first words of this lesson."));
    User user;
    user.open(path);
    user.act(GoToPage{1});
    REQUIRE(screen_text().find("The first words") != std::string::npos);

    write_file_atomically(path, own_lesson("Other words of the same lesson are here.", "down"));
    user.driver.wait(2);
    user.settle();
    CHECK(screen_text().find("Other words") != std::string::npos);
    CHECK(user.program.state().course.page == 1);
    CHECK(user.view().row == 3); // the new scene of the step
    CHECK(user.program.state().notice == "mine.md was read again.");

    write_file_atomically(path, own_lesson("A version with a fault in its scene.", "["));
    user.driver.wait(2);
    user.settle();
    CHECK(user.program.state().error.find("mine.md:") == 0);
    CHECK(user.program.state().error.find("The former version stays open.") != std::string::npos);
    CHECK(screen_text().find("Other words") != std::string::npos);

    write_file_atomically(path, own_lesson("The third version is good again.", "down"));
    user.driver.wait(2);
    user.settle();
    CHECK(user.program.state().error.empty());
    CHECK(screen_text().find("The third version") != std::string::npos);
}

} // namespace headscope::test
