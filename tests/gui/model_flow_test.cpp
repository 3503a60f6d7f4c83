#include "app/state/model_document.h"
#include "app/state/screens/model_story.h"
#include "app/state/screens/screen.h"
#include "core/checkpoint/files/packaged_models.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <numeric>

namespace headscope::test {
namespace {

/// Pocket on the Flow, with a text that it continues with a name.
struct FlowUser : User {
    explicit FlowUser(float width = 1600, float height = 1000) : User("first-lesson", "", width, height) {
        begin_recording();
        open(checkpoint::model_folder("pocket"), "When Mary and John went to the shop, John gave a book to");
        act(ShowScreen{Screen::flow});
        act(OpenLeft{false});
        settle();
    }
    FlowUser(const FlowUser&) = delete;
    FlowUser& operator=(const FlowUser&) = delete;
    ~FlowUser() { end_recording(); }
};

} // namespace

TEST_CASE("the Flow of a model shows the next word, the best guesses and what the open head reads",
          "[gui][model]") {
    FlowUser user;
    REQUIRE(screen_of(user.shown(), user.view()) == Screen::flow);
    REQUIRE(user.shown().flow_layer != nullptr);
    REQUIRE(user.shown().flow_guesses != nullptr);
    REQUIRE(user.shown().causes != nullptr);
    CHECK(screen_shows("Next word"));
    CHECK(screen_shows("Mary"));
    CHECK(screen_shows("Best guess"));
    CHECK(screen_text().find("Mostly L2 H7") != std::string::npos);
    // The last guess is the model's own prediction, with the same probability.
    const FlowGuesses& guesses = *user.shown().flow_guesses;
    CHECK(std::ssize(guesses.layers) == 5);
    CHECK(guesses.layers.back().front().probability ==
          Approx(user.shown().causes->causes.likeliest.front().probability).margin(1e-5));
    // The ribbons are the weights of the attention.
    const Tensor& weights = *user.shown().flow_layer->weights;
    for (std::int64_t i = 0; i < weights.shape()[2]; ++i) {
        const auto row = weights.values().subspan(static_cast<std::size_t>(weights.offset(0, 0, i, 0)),
                                                  static_cast<std::size_t>(weights.shape()[3]));
        CHECK(std::accumulate(row.begin(), row.end(), 0.0F) == Approx(1).margin(1e-4));
    }

    user.press("open L2 H7");
    CHECK(user.view().attention.layer == 2);
    CHECK(user.view().head == 7);
    CHECK(screen_shows("attends to"));
    user.press("open layer 1");
    CHECK(user.view().attention.layer == 1);
    REQUIRE(user.shown().flow_layer != nullptr);
    CHECK(user.shown().flow_layer->layer == 1);
    user.press("guess 3");
    CHECK(user.view().attention.flow_guess == std::optional<std::int64_t>(3));
    user.press("position 9");
    CHECK(user.shown().position == 9);
    CHECK(user.shown().flow_guesses->position == 9);
    CHECK(user.shown().causes->causes.question.position == 9);
}

TEST_CASE("a head that is switched off in the Flow is gray there, and undo switches it on", "[gui][model]") {
    FlowUser user;
    user.press("open L2 H7");
    user.press("Switch it off and see");
    user.settle();
    REQUIRE(user.shown().causes != nullptr);
    REQUIRE(user.shown().causes->off);
    CHECK(screen_shows("was Mary"));
    CHECK(screen_shows("it adds nothing"));
    CHECK(screen_text().find("Without L2 H7 the model says “John”") != std::string::npos);
    user.driver.key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    user.settle();
    REQUIRE(user.shown().causes != nullptr);
    CHECK_FALSE(user.shown().causes->off);
    CHECK_FALSE(screen_shows("was Mary"));
}

TEST_CASE("the Flow of a model has its words, its answer and its button in both windows and both themes",
          "[gui][model]") {
    for (const auto& [width, height] : {std::pair(1600.0F, 1000.0F), {1280.0F, 720.0F}}) {
        CAPTURE(width);
        FlowUser user(width, height);
        for (const bool dark : {false, true}) {
            user.act(SetDark{dark});
            user.settle();
            for (const char* const text : {"Next word", "Mary", "80 %", "Best guess", "Why “Mary”?",
                                           "Switch it off and see", "everything else"}) {
                CAPTURE(text);
                CHECK(screen_shows(text));
            }
        }
    }
}

TEST_CASE("the play of a model's Flow takes at most 12 seconds, and its picture depends on the time alone",
          "[gui][model]") {
    for (const std::int64_t L : {1, 4, 12, 48})
        for (const std::int64_t open : {std::int64_t{0}, L / 2, L - 1}) {
            CAPTURE(L, open);
            const FlowStory story = model_flow_story(L, open);
            CHECK(story.duration() <= longest_flow_story + 1e-3F);
            CHECK(story.duration() > 5);
            for (std::size_t step = 0; step < flow_step_count; ++step)
                CHECK(story.starts[step] <= story.starts[step + 1]);
        }
    FlowUser user;
    const FlowStory& story = user.view().flow.story;
    REQUIRE_FALSE(story.empty());
    const auto text_at = [&](float time) {
        user.act(SetFlowTime{time});
        user.settle();
        return screen_text();
    };
    const std::string embed = text_at(0.5F);
    CHECK(embed.find("Each word becomes a vector") != std::string::npos);
    CHECK(embed.find("Mostly") == std::string::npos);
    const std::string end = text_at(story.duration() - 0.2F);
    CHECK(end.find("The model says “Mary”") != std::string::npos);
    CHECK(text_at(0.5F) == embed);
}

TEST_CASE("the Flow of a model that cannot be drawn is not offered", "[gui][model]") {
    User user;
    user.open(test_data("/models/t5_tiny"), "3 7 5", "2 4");
    CHECK_FALSE(has_screen(*user.program.state().document, Screen::flow));
    CHECK(why_no_model_flow(*user.program.state().document).find("an encoder and a decoder") !=
          std::string::npos);
}

} // namespace headscope::test
