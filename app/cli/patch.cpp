#include "app/cli/prompt_option.h"
#include "app/cli/prompts/prompt_run.h"
#include "app/cli/prompts/prompts_option.h"
#include "app/cli/subcommands.h"
#include "app/cli/usage.h"
#include "core/analysis/effects/patching.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/parse.h"
#include "core/format/safetensors.h"

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

namespace headscope::cli {

namespace {

using Json = nlohmann::ordered_json;
using analysis::PatchKindInfo;

struct PatchOptions {
    EditedModelOption model;
    std::string what, out = "-";
    PromptOption clean, corrupted;
    PromptsOption prompts;
    SecondText second;
    TokenOption answer, against;
    std::optional<std::int64_t> position;
    std::optional<std::string> from, to;
    bool json = false;
};

/// Parses "2.7" of --from 2.7.
analysis::HeadPlace head_of(const std::string& text, const char* option) {
    const std::size_t point = std::min(text.find('.'), text.size());
    const auto layer = number_of<std::int64_t>(text.substr(0, point));
    const auto head = point == text.size() ? std::nullopt : number_of<std::int64_t>(text.substr(point + 1));
    if (!layer || !head)
        fail_input(std::string(option) + " " + text + ": a head is written as layer.head, such as 2.7");
    return {*layer, *head};
}

/// Parses "2.7:q" of --to 2.7:q: the head and the input that the path reaches.
std::pair<analysis::HeadPlace, analysis::PathInputs> end_of(const std::string& text) {
    const std::size_t colon = text.find(':');
    const analysis::HeadPlace head = head_of(text.substr(0, colon), "--to");
    if (colon == std::string::npos)
        return {head, {}};
    const std::string part = text.substr(colon + 1);
    if (part != "q" && part != "k" && part != "v")
        fail_input("--to " + text + ": after the colon, write q, k or v");
    return {head, {.queries = part == "q", .keys = part == "k", .values = part == "v"}};
}

const PatchKindInfo& kind_of(const std::string& id) {
    return *std::ranges::find(analysis::patch_kinds(), id, &PatchKindInfo::id);
}

checkpoint::ModelRunPtr run_of(const checkpoint::TextModel& model, const PromptOption& prompt,
                               const SecondText& second, const checkpoint::ModelEdits& edits) {
    Progress progress;
    return checkpoint::ModelRun::compute(model.model, prompt.read(model, {}, second), edits, nullptr, {},
                                         progress);
}

Json tokens_json(const checkpoint::TextModel& model, const checkpoint::ModelInputs& inputs) {
    Json tokens = Json::array();
    for (const std::int64_t id : inputs.ids)
        tokens.push_back(spelling_of(model, id));
    return tokens;
}

/// Returns the fraction that each path from a head recovers, by layer and head of its end; 0 for heads that
/// do not read it, which are not in a later layer.
Tensor recovered_by_paths(analysis::Patching& patching, const std::string& from) {
    Progress progress;
    const analysis::HeadPlace sender = head_of(from, "--from");
    const auto kind = analysis::PatchKind::head;
    Tensor recovered(Shape{patching.rows(kind), patching.columns(kind)}, 0.0F);
    if (sender.layer + 1 >= patching.rows(kind))
        fail_input("--from " + from + ": no later head reads it; name a head of layer 0 to " +
                   std::to_string(patching.rows(kind) - 2));
    for (std::int64_t layer = sender.layer + 1; layer < patching.rows(kind); ++layer)
        for (std::int64_t head = 0; head < patching.columns(kind); ++head)
            recovered.at(layer, head) =
                static_cast<float>(patching.recovered(patching.path(sender, {layer, head}, {}, progress)));
    return recovered;
}

/// Returns the fraction that each run recovers; a single number for a path.
Tensor recovered_of(analysis::Patching& patching, const PatchOptions& options) {
    Progress progress;
    if (options.from && !options.to)
        return recovered_by_paths(patching, *options.from);
    if (options.from) {
        const auto [to, inputs] = end_of(*options.to);
        const double difference = patching.path(head_of(*options.from, "--from"), to, inputs, progress);
        return {Shape{1}, static_cast<float>(patching.recovered(difference))};
    }
    const analysis::PatchKind kind = kind_of(options.what).kind;
    Tensor recovered(Shape{patching.rows(kind), patching.columns(kind)});
    for (std::int64_t row = 0; row < patching.rows(kind); ++row)
        for (std::int64_t column = 0; column < patching.columns(kind); ++column)
            recovered.at(row, column) =
                static_cast<float>(patching.recovered(patching.patched(kind, row, column, progress)));
    return recovered;
}

Json recovered_json(const Tensor& recovered) {
    if (recovered.shape().rank() == 1)
        return recovered.data()[0];
    Json rows = Json::array();
    for (std::int64_t row = 0; row < recovered.shape()[0]; ++row) {
        Json columns = Json::array();
        for (std::int64_t column = 0; column < recovered.shape()[1]; ++column)
            columns.push_back(recovered.at(row, column));
        rows.push_back(std::move(columns));
    }
    return rows;
}

bool is_tensor_suffix(const std::string& suffix) {
    return suffix == ".safetensors" || suffix == ".npz";
}

void check_patch(const PatchOptions& options) {
    if (!options.prompts.given()) {
        options.clean.require();
        options.corrupted.require();
        if (!options.answer.given() || !options.against.given())
            fail_usage("patch compares two tokens; give --answer A and --against B");
    }
    if (options.to && !options.from)
        fail_usage("--to is the end of a path; add --from with its beginning");
    if (!options.what.empty() && options.from)
        fail_usage("--what " + options.what + " and --from were given; give one of them");
    if (options.what.empty() && !options.from)
        fail_usage("nothing to patch was named; give --what, or --from and --to");
    if (options.prompts.given())
        return check_set_output(options.out, options.json);
    const std::string suffix = std::filesystem::path(options.out).extension().string();
    if (options.out != "-" && suffix != ".json" && !is_tensor_suffix(suffix))
        fail_input("-o " + options.out +
                   ": the fractions are written as .json, .safetensors or .npz; use one of these endings");
    if (options.json && is_tensor_suffix(suffix))
        fail_usage("--json and -o " + options.out + " were given; give one of them");
}

/// The two runs of a pair of prompts.
struct PatchRuns {
    checkpoint::ModelRunPtr clean, corrupted;
    std::unique_ptr<analysis::Patching> patching;
};

PatchRuns runs_of(const PatchOptions& options, const checkpoint::TextModel& model) {
    const checkpoint::ModelEdits edits = options.model.edits(model);
    PatchRuns runs{run_of(model, options.clean, options.second, edits),
                   run_of(model, options.corrupted, options.second, edits), nullptr};
    Progress progress;
    runs.patching = std::make_unique<analysis::Patching>(
        runs.clean, runs.corrupted,
        analysis::Patching::Question{.answer = *options.answer.read(model),
                                     .against = *options.against.read(model),
                                     .position = options.position.value_or(runs.clean->inputs().T - 1)},
        progress);
    return runs;
}

void write_tensors(const std::string& path, analysis::Patching& patching, const Tensor& recovered) {
    format::SafetensorsWriter file;
    const auto add = [&](const char* name, const Shape& shape, std::span<const float> values) {
        file.add(name, make_tensor(shape, values));
    };
    const auto differences =
        std::array{static_cast<float>(patching.clean()), static_cast<float>(patching.corrupted())};
    add("recovered", recovered.shape(), recovered.values());
    add("clean", Shape{1}, std::span(differences).first(1));
    add("corrupted", Shape{1}, std::span(differences).last(1));
    write_file_atomically(path, [&](const ByteSink& sink) { file.write_as(path, sink); });
}

Json patch_json(const PatchOptions& options, const checkpoint::TextModel& model) {
    const PatchRuns runs = runs_of(options, model);
    Json all{{"what", !options.from ? options.what
                      : options.to  ? "path"
                                    : "paths"},
             {"clean", runs.patching->clean()},
             {"corrupted", runs.patching->corrupted()},
             {"clean_tokens", tokens_json(model, runs.clean->inputs())},
             {"corrupted_tokens", tokens_json(model, runs.corrupted->inputs())},
             {"recovered", recovered_json(recovered_of(*runs.patching, options))}};
    const checkpoint::ModelConfig& config = model.model->config();
    if (!options.from && kind_of(options.what).by_head)
        for (std::int64_t l = 0; l < config.layers; ++l)
            if (!config.has_attention(l))
                all["layers_without_heads"].push_back(l); // their rows have nothing to patch
    return all;
}

/// Returns the options of a single pair of prompts of a set.
PatchOptions options_of(const PatchOptions& all, const analysis::Prompt& prompt,
                        const checkpoint::TextModel& model) {
    PatchOptions one = all;
    one.clean.set(prompt.need("clean"));
    one.corrupted.set(prompt.need("corrupted"));
    one.answer.set("answer", prompt.need("answer"), model);
    one.against.set("against", prompt.need("against"), model);
    return one;
}

void run_patch(const CLI::App& command, const PatchOptions& options) {
    check_patch(options);
    if (options.from)
        head_of(*options.from, "--from");
    if (options.to)
        end_of(*options.to);
    if (options.prompts.given()) {
        const analysis::PromptSet set = analysis::PromptSet::open(options.prompts.path());
        const checkpoint::TextModelPtr model = options.model.open();
        return run_prompts({.set = set,
                            .out = options.out,
                            .computation = computation_text(command, *model->model),
                            .compute =
                                [&](const analysis::Prompt& prompt) {
                                    return dump_json(patch_json(options_of(options, prompt, *model), *model));
                                },
                            .parallel = is_small(*model->model)});
    }
    const checkpoint::TextModelPtr model = options.model.open();
    if (is_tensor_suffix(std::filesystem::path(options.out).extension().string())) {
        const PatchRuns runs = runs_of(options, *model);
        write_tensors(options.out, *runs.patching, recovered_of(*runs.patching, options));
    } else {
        write_file_atomically(options.out, dump_json(patch_json(options, *model), 1) + "\n");
    }
}

} // namespace

void add_patch(CLI::App& program) {
    CLI::App& command = *program.add_subcommand(
        "patch", "patch activations of a clean prompt into a corrupted one and measure the recovered answer");
    const auto options = std::make_shared<PatchOptions>();
    options->model.add_to(command);
    options->clean.add_to(command, "clean", "the prompt that gives the activations");
    options->corrupted.add_to(command, "corrupted", "the prompt that runs with them, of equal length");
    options->second.add_to(command,
                           "a second text of both prompts, for a tokenizer that has a form for two texts");
    options->answer.add_to(command, "answer", "the token that the clean prompt leads to");
    options->against.add_to(command, "against", "the token that the corrupted prompt leads to");
    options->prompts.add_to(command, "clean, corrupted, answer and against",
                            {"--clean", "--clean-ids", "--corrupted", "--corrupted-ids", "--answer",
                             "--answer-id", "--against", "--against-id"});
    std::vector<std::string> kinds;
    for (const PatchKindInfo& info : analysis::patch_kinds())
        kinds.emplace_back(info.id);
    command
        .add_option("--what", options->what,
                    "residual (rows: the residual stream into each layer and out of the last), attention, "
                    "mlp: by layer and position; head, q, k, v, pattern: by layer and head, at all positions")
        ->check(CLI::IsMember(kinds));
    command.add_option("--from", options->from,
                       "a path: the earlier head, as layer.head; without --to, the paths to "
                       "every later head");
    command.add_option("--to", options->to,
                       "the later head, the only one that reads it: layer.head, or layer.head:q, :k or :v");
    command.add_option("--position", options->position,
                       "the token after which to compare (default: the last)");
    command.add_option("-o,--output", options->out,
                       "the .json, .safetensors or .npz file to write, for --prompts .json, .csv or "
                       ".safetensors (default: JSON on standard output)");
    command.add_flag("--json", options->json, "print JSON, as it does without a file");
    command.footer("--gain and --patch change both runs. recovered = (difference - corrupted) / (clean - "
                   "corrupted), where each difference is the logit of --answer minus that of --against.");
    command.callback([options, &command] { run_patch(command, *options); });
}

} // namespace headscope::cli
