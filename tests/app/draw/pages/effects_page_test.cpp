#include "app/draw/effects/effects.h"
#include "app/session/workspace.h"
#include "core/checkpoint/files/packaged_models.h"
#include "tests/app/support/fixture.h"
#include "tests/catch.h"

namespace headscope::test {

using namespace headscope::app;

TEST_CASE("a logit lens names its own tokens while the effects on screen are of a shorter text") {
    Progress progress;
    const auto opened = [&](const char* text) {
        return open_model(checkpoint::model_folder("pocket"), {text, {}}, 0, progress);
    };
    const OpenedModel longer = opened("Anna went to the shop. Tom bought bread"), now = opened("The cat");
    SessionState state;
    Workspace workspace(state, {}, {.device = "cpu", .wake = {}, .changed = [] {}, .drop_baseline = [] {}});
    workspace.open(now);
    workspace.settle();
    workspace.take_results();
    Shown shown = state.shown;
    shown.effects = effects_of(*now.part->model, *now.run, *now.run, {}, now.run->inputs().T - 1,
                               checkpoint::Stack::own, progress);
    shown.lens = std::make_shared<const EffectsLens>(
        effects_lens(*longer.part->model, *longer.run, longer.run->inputs().T - 1, progress));
    REQUIRE(shown.effects->queries.size() < shown.lens->positions.size());
    const figure::TextMeasure measure = approximate_measure();
    Picture picture;
    draw_lens(picture, {shown, state.view, theme(false), measure, 1200, 848}, 0);
    const std::string all = all_text(picture);
    for (const char* const token : {"Tom", "bought", "bread"}) {
        INFO(token);
        CHECK(all.find(token) != std::string::npos);
    }
}

} // namespace headscope::test
