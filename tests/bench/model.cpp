#include "app/draw/kit/format.h"
#include "core/checkpoint/generation/generator.h"
#include "core/checkpoint/run/model_run.h"
#include "tests/bench/clock.h"
#include "tests/bench/machine.h"
#include "tests/bench/rows.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

namespace headscope::bench {

namespace {

/// Returns different ids from the whole vocabulary.
checkpoint::ModelInputs made_inputs(const checkpoint::ModelConfig& config, std::int64_t T) {
    checkpoint::ModelInputs inputs;
    inputs.T = T;
    for (std::int64_t i = 0; i < T; ++i)
        inputs.ids.push_back((7919 * i + 13) % config.vocab);
    if (config.encoder != nullptr)
        inputs.source.push_back(made_inputs(*config.encoder, T));
    return inputs;
}

double mega(std::int64_t bytes) {
    return static_cast<double>(bytes) / (1024.0 * 1024.0);
}

BenchRow megabyte_row(const std::string& name, double megabytes, const std::string& detail) {
    return {name, app::number(megabytes, 0) + " MB", detail,
            nlohmann::json{{"name", name}, {"megabytes", megabytes}}.dump()};
}

/// Returns the bytes of the parameters that a step reads: layers and output matrix.
double step_bytes(const checkpoint::Model& model) {
    std::int64_t numbers = model.weight(TensorId::W_U)->count();
    const checkpoint::ModelConfig& config = model.config();
    const std::int64_t first = attention_number(config, {checkpoint::Stack::own, 0});
    for (std::int64_t n = first; n < attention_count(config); ++n)
        for (const TensorPtr& weight : model.layer(n).tensors)
            numbers += weight == nullptr ? 0 : weight->count();
    return static_cast<double>(numbers) * sizeof(float);
}

/// Times steps of generation after a text of T tokens, compared with the time for reading the parameters.
BenchRow generation_row(const checkpoint::ModelPtr& model, std::int64_t T) {
    constexpr std::int64_t steps = 16;
    checkpoint::Generator generator(model, made_inputs(model->config(), T - steps));
    Progress progress;
    const Spread step = time_of([&] {
        if (generator.length() == T)
            generator.take_back(steps);
        const checkpoint::Distribution next = generator.next({}, 1, progress);
        generator.append(next.candidates[next.taken].id);
    });
    const double limit = step_bytes(*model) / measure_machine().reads;
    const std::string name = "a token more, greedy, T " + std::to_string(T);
    BenchRow row = timed_row(name, step, "");
    row.detail += app::number(1 / step.median, 0) + " tokens/s, " +
                  app::number(100 * limit / step.median, 0) + " % of the memory limit";
    auto json = nlohmann::json::parse(row.json);
    json["limit_seconds"] = limit;
    row.json = json.dump();
    return row;
}

} // namespace

void add_model_rows(std::vector<BenchRow>& rows, const std::string& folder) {
    constexpr std::int64_t common = 128, most = 1024;
    std::vector<double> opened;
    checkpoint::ModelPtr model;
    for (int sample = 0; sample < 9; ++sample) {
        const auto start = BenchClock::now();
        model = std::make_shared<const checkpoint::Model>(checkpoint::Model::open(folder));
        opened.push_back(since(start));
    }
    rows.push_back(timed_row("checkpoint opened, no weight read", spread_of(opened), ""));
    Progress progress;
    const std::int64_t T = std::min(common, model->config().max_positions);
    const checkpoint::ModelInputs inputs = made_inputs(model->config(), T);
    const auto start = BenchClock::now();
    checkpoint::ModelRunPtr run = checkpoint::ModelRun::compute(model, inputs, {}, nullptr, {}, progress);
    run->logits();
    const double first = since(start);
    const std::string at = "T " + std::to_string(T);
    rows.push_back(timed_row("first forward, weights read, " + at, {first, first, first}, ""));
    // As in a user's runs, each run starts from the previous one, and all its tokens differ.
    checkpoint::ModelInputs other = inputs;
    std::ranges::reverse(other.ids);
    bool turn = false;
    const Spread forward = time_of([&] {
        turn = !turn;
        run = checkpoint::ModelRun::compute(model, turn ? other : inputs, {}, run, {}, progress);
        run->logits();
    });
    rows.push_back(timed_row("forward, all attentions and logits, " + at, forward, ""));
    const std::int64_t middle = model->config().layers / 2;
    checkpoint::ModelEdits edits;
    std::vector<float>& gains =
        edits[attention_number(model->config(), {checkpoint::Stack::own, middle})].gains;
    gains.assign(static_cast<std::size_t>(model->config().H), 1.0F);
    gains.front() = 0.0F;
    const checkpoint::ModelRunPtr plain = checkpoint::ModelRun::compute(model, inputs, {}, run, {}, progress);
    const Spread edit = time_of([&] {
        run = checkpoint::ModelRun::compute(model, inputs, edits, plain, {}, progress);
        run->logits_at(T - 1, progress);
    });
    if (model->config().causal && model->has_head() && T > 16)
        rows.push_back(generation_row(model, T));
    rows.push_back(timed_row("a head of layer " + std::to_string(middle) + " taken away, " + at, edit, ""));
    if (model->config().max_positions < most)
        return;
    run.reset();
    reset_peak_memory();
    const auto long_start = BenchClock::now();
    run = checkpoint::ModelRun::compute(model, made_inputs(model->config(), most), {}, nullptr, {}, progress);
    run->logits();
    const double seconds = since(long_start);
    const std::string longer = "T " + std::to_string(most);
    rows.push_back(
        timed_row("forward, all attentions and logits, " + longer, {seconds, seconds, seconds}, ""));
    rows.push_back(megabyte_row("peak memory at " + longer, mega(peak_memory()), "wanted: under 2048 MB"));
}

} // namespace headscope::bench
