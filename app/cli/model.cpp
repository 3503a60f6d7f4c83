#include "app/cli/model_commands.h"
#include "app/cli/model_options.h"
#include "app/cli/subcommands.h"
#include "core/base/file.h"
#include "core/base/joined.h"
#include "core/base/json.h"
#include "core/checkpoint/checks/description.h"
#include "core/checkpoint/files/local_models.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/model/quantized.h"
#include "core/text/tokenizer/build.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

namespace headscope::cli {

namespace {

using nlohmann::ordered_json;

std::int64_t parameter_count(const checkpoint::CheckpointReport& report) {
    std::int64_t count = 0;
    for (const auto& [dtype, numbers] : report.parameters)
        count += numbers;
    return count;
}

ordered_json describe(const checkpoint::Model& model) {
    const checkpoint::ModelConfig& c = model.config();
    const checkpoint::CheckpointReport& report = model.report();
    std::vector<std::string> missing = report.missing;
    missing.insert(missing.end(), report.head_missing.begin(), report.head_missing.end());
    ordered_json json = {{"family", c.family}};
    json.update(checkpoint::described(model)); // for an encoder-decoder, the decoder
    if (c.encoder != nullptr)
        json["encoder"] = checkpoint::described(*model.encoder());
    const auto quantized = checkpoint::find_quantized(model);
    ordered_json adapter;
    if (const checkpoint::Adapted* const adapted = model.adapted())
        adapter = {{"kind", "LoRA"},
                   {"base", adapted->base},
                   {"rank", adapted->rank},
                   {"least_rank", adapted->least_rank},
                   {"modules", adapted->modules},
                   {"tensors", adapted->changed.size()},
                   {"replaced", adapted->replaced},
                   {"left_out", adapted->left_out}};
    ordered_json left_out = ordered_json::array();
    for (const auto& [part, size] : report.other_parts)
        left_out.push_back({{"part", checkpoint::part_name(part)},
                            {"tensors", size.tensors},
                            {"parameters", size.parameters}});
    json.update({{"parameters", parameter_count(report)},
                 {"parameters_by_dtype", report.parameters},
                 {"adapter", adapter},
                 {"assumed", model.assumed()},
                 {"tied", c.tied},
                 {"head", model.has_head()},
                 {"runnable", model.problem().empty()},
                 {"problem", model.problem()},
                 {"quantization", quantized ? quantized->kind : model.quantization()},
                 {"tokenizer_files", checkpoint::tokenizer_sources(model)},
                 {"tokenizer_problem", text::unsupported_tokenizer_reason(model.folder())},
                 {"missing", missing},
                 {"wrong_shape", report.wrong_shape},
                 {"unknown", report.unknown},
                 {"unknown_in_layers", report.unknown_in_layers},
                 {"ignored", model.ignored_tensors()},
                 {"unused", report.unused},
                 {"left_out", left_out}});
    return json;
}

std::string shapes_text(const ordered_json& info) {
    std::string text;
    for (const auto& [name, key] : {std::pair("layers", "layers"),
                                    {"D", "D"},
                                    {"H", "H"},
                                    {"Hkv", "Hkv"},
                                    {"dk", "dk"},
                                    {"d_ff", "d_ff"},
                                    {"vocab", "vocab"},
                                    {"positions", "max_positions"},
                                    {"experts", "experts"},
                                    {"experts used", "experts_used"}})
        if (info[key] != 0)
            text += (text.empty() ? "" : ", ") + std::string(name) + " " + info[key].dump();
    return text + "\n";
}

std::string list(const ordered_json& names) {
    return names.empty() ? "none" : joined(names.get<std::vector<std::string>>());
}

std::string as_text(const ordered_json& info) {
    const auto number = [&](const char* key) { return info[key].dump(); };
    const std::string dtypes = joined(info["parameters_by_dtype"].items(),
                                      [](const auto& row) { return row.value().dump() + " " + row.key(); });
    std::string text;
    text += "family: " + info["family"].get<std::string>() + "\n";
    if (info.contains("encoder"))
        text += "encoder: " + shapes_text(info["encoder"]);
    text += (info.contains("encoder") ? "decoder: " : "shapes: ") + shapes_text(info);
    if (info["embedding_width"] != info["D"])
        text += "width of the embeddings: " + number("embedding_width") + "\n";
    if (info["layers_with_same_weights"] != 1)
        text += "layers with the same weights: " + number("layers_with_same_weights") + "\n";
    text += "parameters: " + number("parameters") + " (" + dtypes + ")\n";
    if (info["quantization"] != "")
        text += "quantization: " + info["quantization"].get<std::string>() + "\n";
    if (const ordered_json& adapter = info["adapter"]; !adapter.is_null()) {
        text += "LoRA adapter of: " + adapter["base"].get<std::string>() + "\n";
        text += "adapted modules: " + list(adapter["modules"]);
        if (adapter["rank"] != 0)
            text += ", rank " +
                    (adapter["rank"] == adapter["least_rank"] ? "" : adapter["least_rank"].dump() + " to ") +
                    adapter["rank"].dump();
        text += ", " + adapter["tensors"].dump() + " tensors changed\n";
        if (!adapter["replaced"].empty())
            text += "tensors of the adapter's own: " + list(adapter["replaced"]) + "\n";
        if (!adapter["left_out"].empty())
            text += "left out of the adapter: " + list(adapter["left_out"]) + "\n";
    }
    if (info["assumed"] != "")
        text += "assumed: " + info["assumed"].get<std::string>() + "\n";
    text += std::string("word embedding and head: ") + (info["tied"] ? "one table" : "two tables") + "\n";
    text += std::string("runs: ") + (info["runnable"] ? "yes" : "no: " + info["problem"].get<std::string>()) +
            (info["head"] || !info["runnable"] ? "" : ", without logits") +
            (info["ignored"].empty() ? "" : ", without " + list(info["ignored"])) + "\n";
    for (const ordered_json& part : info["left_out"])
        text += "left out: " + part["part"].get<std::string>() + ", " + part["tensors"].dump() +
                " tensors, " + part["parameters"].dump() +
                " parameters; only the language model is computed\n";
    text += "tokenizer: " + list(info["tokenizer_files"]) +
            (info["tokenizer_problem"] == "" ? "" : "; " + info["tokenizer_problem"].get<std::string>()) +
            "\n";
    text += "missing tensors: " + list(info["missing"]) + "\n";
    text += "tensors with an invalid shape: " + list(info["wrong_shape"]) + "\n";
    text += "unknown tensors: " + list(info["unknown"]) + "\n";
    text += "tensors without use here: " + list(info["unused"]) + "\n";
    return text;
}

} // namespace

void add_model(CLI::App& program) {
    CLI::App& model = *program.add_subcommand("model", "inspect a checkpoint");
    model.require_subcommand(1);
    add_model_list(model);
    add_model_remove(model);
    add_model_check(model);
    CLI::App& info =
        *model.add_subcommand("info", "show family, shapes, tokenizer, and missing or unknown tensors");
    struct Options {
        std::string folder;
        bool json = false;
    };
    const auto options = std::make_shared<Options>();
    info.add_option("DIR", options->folder,
                    "a Hugging Face checkpoint folder or its PyTorch file, a LoRA adapter, a GGUF file, "
                    "or pocket")
        ->transform(checkpoint::model_folder)
        ->required();
    info.add_flag("--json", options->json, "print JSON");
    add_ignore_unknown(info);
    add_base(info);
    info.callback([options] {
        const ordered_json found = describe(checkpoint::Model::open(options->folder));
        write_file_atomically("-", options->json ? dump_json(found, 2) + "\n" : as_text(found));
    });
}

} // namespace headscope::cli
