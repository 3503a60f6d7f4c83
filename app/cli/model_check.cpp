#include "app/cli/model_commands.h"
#include "app/cli/model_options.h"
#include "app/cli/problem_options.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/joined.h"
#include "core/base/json.h"
#include "core/checkpoint/checks/self_check.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/model/model_memory.h"
#include "core/engine/engine.h"
#include "core/run/backend.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

namespace headscope::cli {

namespace {

using nlohmann::ordered_json;

struct ModelCheckOptions {
    std::string folder, device = "auto";
    std::optional<std::string> reference; ///< absent: the model is checked by itself
    bool json = false;
};

bool all_agree(const std::vector<checkpoint::ReferenceRow>& rows) {
    return std::ranges::all_of(rows, &checkpoint::ReferenceRow::agrees);
}

/// "attentions of layer 3"
std::string row_name(const checkpoint::ReferenceRow& row) {
    if (!row.layer)
        return row.kind;
    return row.kind + " " + std::to_string(*row.layer);
}

std::string as_json(const ModelCheckOptions& options, const std::vector<checkpoint::ReferenceRow>& rows,
                    const checkpoint::ReferenceGaps& gaps) {
    ordered_json list = ordered_json::array();
    for (const checkpoint::ReferenceRow& row : rows)
        list.push_back({{"kind", row.kind},
                        {"layer", row.layer ? ordered_json(*row.layer) : ordered_json(nullptr)},
                        {"largest_difference", std::isfinite(row.difference) ? ordered_json(row.difference)
                                                                             : ordered_json(nullptr)},
                        {"allowed", row.allowed},
                        {"agrees", row.agrees()}});
    const ordered_json all = {
        {"model", options.folder},
        {"reference", options.reference ? ordered_json(*options.reference) : ordered_json(nullptr)},
        {"agrees", all_agree(rows) && gaps.missing_here.empty()},
        {"rows", list},
        {"missing_here", gaps.missing_here},
        {"not_compared", gaps.not_compared},
        {"only_here", gaps.only_here}};
    return dump_json(all, 2) + "\n";
}

std::string as_text(const std::vector<checkpoint::ReferenceRow>& rows,
                    const checkpoint::ReferenceGaps& gaps) {
    std::string text = "                      largest difference   allowed\n";
    for (const checkpoint::ReferenceRow& row : rows) {
        std::array<char, 100> line{};
        std::snprintf(line.data(), line.size(), "%-22s%18.1e%10.1e%s\n", row_name(row).c_str(),
                      row.difference, row.allowed, row.agrees() ? "" : "   too far");
        text += line.data();
    }
    for (const auto& [what, names] : {std::pair("not in the model: ", &gaps.missing_here),
                                      {"in the reference, not compared: ", &gaps.not_compared},
                                      {"not in the reference: ", &gaps.only_here}})
        if (!names->empty())
            text += what + joined(*names) + "\n";
    return text + (all_agree(rows) && gaps.missing_here.empty() ? "agrees\n" : "differs\n");
}

const checkpoint::ReferenceRow* first_difference(const std::vector<checkpoint::ReferenceRow>& rows) {
    const auto bad = std::ranges::find_if_not(rows, &checkpoint::ReferenceRow::agrees);
    return bad == rows.end() ? nullptr : &*bad;
}

void compare_with_reference(const ModelCheckOptions& options, run::Backend* backend) {
    const checkpoint::Model model = checkpoint::Model::open(options.folder);
    checkpoint::require_room_for(model);
    Progress progress;
    checkpoint::ReferenceGaps gaps;
    const std::vector<checkpoint::ReferenceRow> rows = checkpoint::check_against(
        model, format::Safetensors::open_lazily(*options.reference), backend, progress, &gaps);
    write_file_atomically("-", options.json ? as_json(options, rows, gaps) : as_text(rows, gaps));
    if (const auto* const bad = first_difference(rows))
        fail_input(options.folder + " and " + *options.reference + " differ, first in " + row_name(*bad) +
                   "; check that both come from the same weights and inputs, in float32");
    if (!gaps.missing_here.empty())
        fail_input(*options.reference + " has " + gaps.missing_here.front() + ", for which " +
                   options.folder +
                   " has no numbers here; check that both come from the same model, with all its layers and "
                   "its head");
}

void check_alone(const ModelCheckOptions& options, run::Backend* backend) {
    const checkpoint::TextModelPtr model = checkpoint::open_text_model(options.folder);
    checkpoint::require_room_for(*model->model);
    Progress progress;
    const std::vector<checkpoint::ReferenceRow> rows =
        checkpoint::check_itself(*model->model, checkpoint::self_check_inputs(*model), backend, progress);
    write_file_atomically("-", options.json ? as_json(options, rows, {}) : as_text(rows, {}));
    if (const auto* const bad = first_difference(rows))
        fail_input(options.folder + " fails the check, first in " + row_name(*bad) +
                   ", so its numbers here may be wrong; report it with the config.json of the model");
}

void check(const ModelCheckOptions& options) {
    const std::unique_ptr<run::Backend> backend = engine::make_backend(options.device);
    options.reference ? compare_with_reference(options, backend.get()) : check_alone(options, backend.get());
}

} // namespace

void add_model_check(CLI::App& model) {
    CLI::App& command = *model.add_subcommand(
        "check", "prove that the numbers of a model are right: compare them with those of Python, or without "
                 "--reference with its own computation in double precision; exits 1 when they differ");
    const auto options = std::make_shared<ModelCheckOptions>();
    command
        .add_option("DIR", options->folder,
                    "a Hugging Face checkpoint folder or its PyTorch file, a GGUF file, or pocket")
        ->transform(checkpoint::model_folder)
        ->required();
    command.add_option("--reference", options->reference,
                       "a .safetensors file with input_ids, optional attention_mask and token_type_ids, and "
                       "attentions.0 ..., hidden_states.0 ..., logits if it has them, or expect.attentions, "
                       "expect.hidden_states, expect.logits");
    command.add_flag("--json", options->json, "print JSON");
    add_ignore_unknown(command);
    add_base(command);
    add_device_option(command, options->device);
    command.callback([options] { check(*options); });
}

} // namespace headscope::cli
