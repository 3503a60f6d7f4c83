#include "app/session/workspace.h"
#include "core/checkpoint/files/packaged_models.h"
#include "tests/catch.h"

#include <chrono>
#include <thread>

// Maps of a checkpoint that runs fill: they can be stopped and resumed.

namespace headscope::test {

using namespace headscope::app;
namespace {

constexpr const char* clean_text = "When Mary and John went to the shop, John gave a book to";
constexpr const char* corrupted_text = "When Mary and John went to the shop, Mary gave a book to";

/// Pocket with a screen open, without a window.
struct Measured {
    SessionState state;
    Workspace workspace{state, {}, {.device = "cpu", .wake = {}, .changed = [] {}, .drop_baseline = [] {}}};

    Measured() {
        Progress progress;
        workspace.open(open_model(checkpoint::model_folder("pocket"), {clean_text}, 0, progress));
        settle();
    }
    void change_view(const AttentionChange& change) { workspace.change_view(ViewChange(change)); }
    void act(const ModelAction& action) { workspace.session().act(action); }
    void settle() {
        workspace.settle();
        workspace.take_results();
    }
    /// Lets workers run until it is so.
    template<class Condition>
    void until(const Condition& condition) {
        while (!condition()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            workspace.take_results();
        }
    }
    /// Stops the map once two of its runs are over, checks that it stands still, and returns how far it came.
    template<class Map>
    std::shared_ptr<const Map> stop(const std::function<std::shared_ptr<const Map>()>& map) {
        until([&] { return map() != nullptr && map()->done >= 2; });
        CHECK(state.model.measuring);
        act(MeasureRuns{false});
        settle();
        CHECK_FALSE(state.model.measuring);
        const std::shared_ptr<const Map> known = map();
        CHECK(known->done >= 2);
        CHECK(known->done < known->count);
        settle();
        CHECK(map()->done == known->done);
        return known;
    }
};

} // namespace

TEST_CASE("a sweep that is stopped keeps what it measured, and goes on to what a whole sweep gives",
          "[measuring]") {
    Measured fixture;
    fixture.change_view(ShowScreen{Screen::effects});
    fixture.change_view(ShowEffects{EffectKind::ablated});
    const auto stopped = fixture.stop<EffectsSweep>([&] { return fixture.state.shown.sweep; });
    CHECK(fixture.state.shown.sweep_stopped);
    Progress progress;
    const EffectsSweep whole = effects_sweep(
        *fixture.state.model.run, *fixture.state.shown.effects, analysis::Ablation::zero, nullptr,
        [](const auto&) {}, progress);
    const auto same_as_whole = [&](const EffectsSweep& sweep) {
        std::int64_t measured = 0;
        for (std::size_t l = 0; l < whole.heads.size(); ++l)
            for (std::size_t h = 0; h < whole.heads[l].size(); ++h)
                if (const auto& cell = sweep.heads[l][h]) {
                    ++measured;
                    CHECK(cell->loss == whole.heads[l][h]->loss);
                    CHECK(cell->divergence == whole.heads[l][h]->divergence);
                }
        CHECK(measured == sweep.done);
    };
    same_as_whole(*stopped);
    fixture.act(MeasureRuns{true});
    fixture.settle();
    CHECK_FALSE(fixture.state.shown.sweep_stopped);
    CHECK(fixture.state.shown.sweep->done == whole.count);
    same_as_whole(*fixture.state.shown.sweep);
    CHECK(fixture.state.shown.sweep->max_abs == whole.max_abs);
}

TEST_CASE("a patching map that is stopped keeps its cells while another tab is looked at, and the runs are "
          "recorded once for all tabs",
          "[measuring]") {
    Measured fixture;
    fixture.change_view(ShowScreen{Screen::patching});
    fixture.act(AskPatching{.corrupted = corrupted_text});
    const auto map = [&] {
        return fixture.state.shown.patching == nullptr ? nullptr : fixture.state.shown.patching->map;
    };
    const auto stopped = fixture.stop<PatchingMap>(map);
    CHECK(fixture.state.shown.patching->stopped);
    const auto pair = fixture.state.shown.patching->pair;
    const analysis::Patching* const recorded = pair->patching.get();
    fixture.act(AskPatching{.kind = analysis::PatchKind::head});
    fixture.settle();
    CHECK(map()->done == map()->count);
    CHECK(map()->count == 32);
    CHECK(fixture.state.shown.patching->pair->patching.get() == recorded);
    // Another head does not change what is patched of every head.
    const auto heads = map();
    fixture.change_view(OpenHead{2, 7});
    fixture.change_view(ShowScreen{Screen::patching});
    fixture.settle();
    CHECK(map() == heads);

    fixture.act(AskPatching{.kind = analysis::PatchKind::residual});
    fixture.settle();
    CHECK(map() == stopped);
    CHECK(fixture.state.shown.patching->stopped);
    fixture.act(MeasureRuns{true});
    fixture.settle();
    CHECK_FALSE(fixture.state.shown.patching->stopped);
    CHECK(map()->done == map()->count);
    Progress progress;
    const PatchingMap whole = patching_map(
        *pair, map()->asked, map()->from, nullptr, [](const auto&) {}, progress);
    CHECK(map()->cells == whole.cells);
    for (std::size_t row = 0; row < whole.cells.size(); ++row)
        for (std::size_t column = 0; column < whole.cells[row].size(); ++column)
            if (const auto& cell = stopped->cells[row][column])
                CHECK(cell == whole.cells[row][column]);

    // Other weights are another pair.
    fixture.workspace.run(SetGain{0, 0.5F});
    fixture.settle();
    CHECK(fixture.state.shown.patching->pair != pair);
}

} // namespace headscope::test
