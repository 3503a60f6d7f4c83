#include "app/state/model_document.h"
#include "app/state/screens/causes.h"
#include "core/checkpoint/files/packaged_models.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"

#include <GLFW/glfw3.h>

namespace headscope::test {
namespace {

constexpr const char* two_names = "When Mary and John went to the shop, John gave a book to";

/// Pocket with a text that it continues with a name.
/// The window is high enough that the panel does not scroll.
struct NameUser : User {
    NameUser() : User("first-lesson", "", 1600, 2200) {
        begin_recording();
        open(checkpoint::model_folder("pocket"), two_names);
        act(ShowTab{LeftTab::predictions});
    }
    NameUser(const NameUser&) = delete;
    NameUser& operator=(const NameUser&) = delete;
    ~NameUser() { end_recording(); }

    const RunSpec& part() const { return *program.state().document->part(); }
    float predicted(const std::string& label) const {
        for (const TokenProbability& one : program.state().model.predictions->likeliest)
            if (one.label == label)
                return one.after;
        return 0;
    }
};

} // namespace

TEST_CASE("Why below a prediction names the head, and a button switches it off and on again",
          "[gui][model]") {
    NameUser user;
    user.press("Why “Mary”?");
    user.settle();
    REQUIRE(user.shown().causes != nullptr);
    CHECK(screen_text().find("Mostly L2 H7") != std::string::npos);
    CHECK(screen_shows("+4.01"));
    const float mary = user.predicted("·Mary"), john = user.predicted("·John");
    // The same probabilities as in the list above it.
    CHECK(user.shown().causes->causes.likeliest[0].probability == Approx(mary).margin(1e-6));
    CHECK(user.shown().causes->causes.likeliest[1].probability == Approx(john).margin(1e-6));
    const checkpoint::TokenChance without = user.shown().causes->causes.without->likeliest.front();

    user.press("Switch it off and see");
    user.settle();
    CHECK(head_gain(user.part(), {checkpoint::Stack::own, 2}, 7) == 0.0F);
    REQUIRE(user.shown().causes != nullptr);
    REQUIRE(user.shown().causes->off);
    CHECK(screen_text().find("Without L2 H7 the model says “John”") != std::string::npos);
    // The run with gain 0 is the run that the answer announced.
    CHECK(user.program.state().model.predictions->likeliest.front().id == without.id);
    CHECK(user.predicted("·John") == Approx(without.probability).margin(1e-5));
    CHECK(user.shown().causes->causes.likeliest[0].probability == Approx(mary).margin(1e-5));
    CHECK(user.shown().causes->off->chances[0] == Approx(user.predicted("·Mary")).margin(1e-5));
    CHECK(user.shown().causes->off->direct == Approx(4.0126).margin(1e-3));

    user.driver.key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    user.settle();
    CHECK(user.part().edits.empty());
    REQUIRE(user.shown().causes != nullptr);
    CHECK_FALSE(user.shown().causes->off);
    CHECK(user.predicted("·Mary") == mary);

    user.press("Switch it off and see");
    user.settle();
    user.press("Switch it on again");
    user.settle();
    CHECK(user.part().edits.empty());
    CHECK(user.predicted("·Mary") == mary);

    user.press("Details");
    user.settle();
    CHECK(user.view().attention.screen == Screen::effects);
    CHECK(user.view().attention.layer == 2);
    CHECK(user.view().head == 7);
    REQUIRE(user.shown().effects != nullptr);
    CHECK(user.shown().effects->token == "·Mary");
    CHECK(user.shown().effects->against == "·John");
}

TEST_CASE("Why answers for the token that was chosen, and closes", "[gui][model]") {
    NameUser user;
    user.press("Why “Mary”?");
    user.act(PredictAt{9});
    user.settle();
    REQUIRE(user.shown().causes != nullptr);
    CHECK(user.shown().causes->causes.question.position == 9);
    user.press("Close");
    user.settle();
    CHECK(user.shown().causes == nullptr);
}

TEST_CASE("a head of a layer that is not open can be switched off", "[gui][model]") {
    NameUser user;
    REQUIRE(user.view().attention.layer != 3);
    user.act(SetHeadGain{{checkpoint::Stack::own, 3}, 5, 0});
    user.settle();
    CHECK(head_gain(user.part(), {checkpoint::Stack::own, 3}, 5) == 0.0F);
    REQUIRE(user.part().marks.contains(3));
    CHECK(user.part().marks.at(3).heads[5].ablated());
    user.act(OpenHead{3, 5});
    user.settle();
    CHECK(user.problem().gain(5) == 0.0F);
    user.act(SetHeadGain{{checkpoint::Stack::own, 9}, 0, 0});
    CHECK_THAT(user.program.state().error, Catch::Contains("has no head 0 in layer 9"));
}

} // namespace headscope::test
