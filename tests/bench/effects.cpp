#include "app/draw/kit/format.h"
#include "core/analysis/effects/ablation_sweep.h"
#include "core/analysis/effects/logit_attribution.h"
#include "core/analysis/effects/logit_lens.h"
#include "core/analysis/effects/patching.h"
#include "core/analysis/effects/score_terms.h"
#include "tests/bench/clock.h"
#include "tests/bench/frames.h"
#include "tests/bench/rows.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

namespace headscope::bench {

namespace {

BenchRow once(const std::string& name, const std::string& wanted, const std::function<void()>& call) {
    const auto start = BenchClock::now();
    call();
    const double seconds = since(start);
    return timed_row(name, {seconds, seconds, seconds}, wanted);
}

/// Times frames of the window with software GL while it computes the ablation sweep over all heads.
BenchRow frames_beside_sweep(const std::string& folder) {
    constexpr int frames = 120;
    std::string prompt = "a";
    for (int word = 1; word < 32; ++word)
        prompt += " a";
    Progress progress;
    app::Program program({.device = "auto"});
    program.open_checkpoint(app::open_model(folder, {prompt}, 0, progress));
    program.settle();
    program.act(app::ShowScreen{app::Screen::effects});
    program.settle();
    const double first = run_frames(program, 1).seconds,
                 still = (run_frames(program, frames).seconds - first) / (frames - 1);
    program.act(app::ShowEffects{app::EffectKind::ablated});
    const TimedFrames beside = run_frames(program, frames);
    const bool running = program.state().model.measuring;
    const double busy = (beside.seconds - first) / (frames - 1);
    return {"frames a second beside the sweep", running ? app::number(1 / busy, 0) : "not measured",
            running ? "without a sweep: " + app::number(1 / still, 0) + "; wanted: 60"
                    : "the sweep ended before " + std::to_string(frames) + " frames",
            nlohmann::json{{"name", "frames beside the sweep"},
                           {"per_second", running ? nlohmann::json(1 / busy) : nlohmann::json()},
                           {"without_sweep", 1 / still}}
                .dump()};
}

} // namespace

void add_effects_rows(std::vector<BenchRow>& rows, const std::string& folder) {
    constexpr std::int64_t most = 64;
    const auto model = std::make_shared<const checkpoint::Model>(checkpoint::Model::open(folder));
    const checkpoint::ModelConfig& a = model->config();
    checkpoint::ModelInputs inputs;
    inputs.T = std::min(most, a.max_positions);
    for (std::int64_t i = 0; i < inputs.T; ++i)
        inputs.ids.push_back((7919 * i + 13) % a.vocab);
    Progress progress;
    const auto run_of = [&](const checkpoint::ModelInputs& text) {
        return checkpoint::ModelRun::compute(model, text, {}, nullptr, {}, progress);
    };
    const checkpoint::ModelRunPtr run = run_of(inputs);
    const std::int64_t last = inputs.T - 1;
    const std::string at = ", T " + std::to_string(inputs.T);
    rows.push_back(
        timed_row("forward" + at, time_of([&] { run_of(inputs)->logits_at(last, progress); }), ""));
    const analysis::LogitQuestion question{.position = last,
                                           .token = 1,
                                           .from = analysis::LogitQuestion::From::token,
                                           .against = 2,
                                           .sources = true};
    rows.push_back(timed_row("attribution of all heads, by source" + at,
                             time_of([&] { analysis::logit_attribution(*run, question, progress); }),
                             "under 150 ms"));
    rows.push_back(timed_row("one score by its writers, last layer" + at, time_of([&] {
                                 analysis::score_terms(*run, {a.layers - 1, 0, last, last / 2}, progress);
                             }),
                             "under 20 ms"));
    std::vector<std::int64_t> positions(static_cast<std::size_t>(std::min<std::int64_t>(14, inputs.T)));
    std::iota(positions.begin(), positions.end(), inputs.T - std::ssize(positions));
    rows.push_back(once("logit lens at " + app::counted(std::ssize(positions), "position"), "",
                        [&] { analysis::logit_lens(*run, positions, 1, progress); }));
    rows.push_back(once("sweep of " + app::counted(a.layers * a.H, "head") + at, "under 12 s", [&] {
        analysis::ablation_sweep(
            *run, {.position = last}, [](const analysis::HeadEffect&) {}, progress);
    }));
    rows.push_back(frames_beside_sweep(folder));
    if (!a.causal || a.encoder != nullptr)
        return;
    checkpoint::ModelInputs other = inputs;
    other.ids[1] = (other.ids[1] + 1) % a.vocab;
    analysis::Patching patching(run, run_of(other), {.answer = 1, .against = 2, .position = last}, progress);
    rows.push_back(timed_row("patch of one path, layer 0 to the last" + at, time_of([&] {
                                 patching.path({0, 0}, {a.layers - 1, 0}, {}, progress);
                             }),
                             "under 0.3 s"));
    rows.push_back(timed_row(
        "patch of a head in the middle" + at,
        time_of([&] { patching.patched(analysis::PatchKind::head, a.layers / 2, 0, progress); }), ""));
}

} // namespace headscope::bench
