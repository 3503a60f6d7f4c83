#include "core/checkpoint/model/patch_identity.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/base/sha256.h"
#include "core/format/safetensors.h"
#include "core/text/tokenizer/json_field.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

namespace headscope::checkpoint {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::int64_t version = 1;
constexpr std::int64_t largest_file = std::int64_t{1} << 53U;

std::string folder_name(const std::string& folder) {
    const fs::path path = fs::path(folder).lexically_normal();
    return (path.has_filename() ? path : path.parent_path()).filename().string();
}

CheckpointIdentity read_identity(const text::JsonField& field) {
    CheckpointIdentity identity;
    identity.name = field.at("name").string();
    identity.config_sha256 = field.at("config_sha256").string();
    for (const text::JsonField& file : field.at("files").elements())
        identity.files.push_back({file.at("name").string(),
                                  static_cast<std::uint64_t>(file.at("bytes").integer(largest_file)),
                                  file.at("header_sha256").string()});
    return identity;
}

std::vector<float> read_gains(const text::JsonField& field) {
    std::vector<float> gains;
    for (const text::JsonField& gain : field.elements()) {
        const float number = gain.value().is_number() ? gain.value().get<float>() : INFINITY;
        if (!std::isfinite(number))
            gain.fail(tr("patch_identity.every_gain_number_float32",
                         "every head gain is a number that float32 can hold"));
        gains.push_back(number);
    }
    return gains;
}

PatchLayer read_layer(const text::JsonField& field) {
    PatchLayer layer;
    if (const auto gains = field.find("gains"))
        layer.gains = read_gains(*gains);
    const text::JsonField originals = field.at("original_sha256");
    if (!originals.value().is_object())
        originals.fail(tr("patch_identity.should_object_gives_each",
                          "it should be an object that gives each changed tensor a digest"));
    for (const auto& [name, digest] : originals.value().items()) {
        const auto around = find_block_weight(name);
        const auto id = around ? around : find_tensor(name);
        if (!id || !is_editable_weight(*id))
            originals.fail(tr("patch_identity.no_weight_attention_norms",
                              "there is no weight \"{}\" of attention, norms or MLP that can be changed; a "
                              "later version may have written it",
                              name));
        layer.originals[*id] = text::JsonField(digest, originals.path() + "." + name).string();
    }
    return layer;
}

} // namespace

std::string digest_of(const Tensor& weight) {
    return sha256(std::as_bytes(weight.values()));
}

CheckpointIdentity identity_of(const Model& model) {
    CheckpointIdentity identity;
    identity.name = folder_name(model.path());
    for (const TensorFiles::File& file : model.files().files())
        std::visit(
            [&](const auto& opened) {
                identity.files.push_back({fs::path(opened->source()).filename().string(),
                                          opened->size_bytes(), opened->header_sha256()});
            },
            file);
    // The header of a GGUF file says what config.json says of a folder.
    identity.config_sha256 =
        model.files().gguf() != nullptr ? identity.files.front().header_sha256 : sha256(model.config_text());
    std::ranges::sort(identity.files, {}, &CheckpointIdentity::File::name);
    return identity;
}

std::string patch_text(const CheckpointIdentity& identity, const ordered_json& layers) {
    ordered_json files = ordered_json::array();
    for (const CheckpointIdentity::File& file : identity.files)
        files.push_back({{"name", file.name}, {"bytes", file.bytes}, {"header_sha256", file.header_sha256}});
    const ordered_json text = {
        {"version", version},
        {"checkpoint",
         {{"name", identity.name}, {"config_sha256", identity.config_sha256}, {"files", files}}},
        {"layers", layers}};
    return dump_json(text);
}

PatchHeader read_patch_header(const format::Safetensors& file) {
    const auto text = file.metadata().find(patch_key);
    if (text == file.metadata().end())
        fail_input(
            tr("patch_identity.no_patch_checkpoint_no",
               "{} is not a patch of a checkpoint: it has no metadata {}; name a file that was saved as one",
               file.source(), patch_key));
    const std::string place = file.source() + ": " + patch_key;
    const json parsed = parse_json_with_bytes(text->second, place);
    const text::JsonField root(parsed, place);
    if (const text::JsonField field = root.at("version"); field.integer(largest_file) != version)
        field.fail(
            tr("common.program_reads_version_1", "this program reads version 1; use the one that wrote it"));
    PatchHeader header;
    header.made_for = read_identity(root.at("checkpoint"));
    for (const text::JsonField& layer : root.at("layers").elements()) {
        const text::JsonField number = layer.at("layer");
        if (!header.layers.emplace(number.integer(most_layers), read_layer(layer)).second)
            number.fail(tr("patch_identity.each_layer_listed_once", "each layer is listed once"));
    }
    return header;
}

void check_identity(const CheckpointIdentity& made_for, const Model& model, const std::string& source) {
    const CheckpointIdentity own = identity_of(model);
    const auto refuse = [&](const std::string& what) {
        // Translators: the third {} is, for example, "config.json of gpt2" or "the header of gpt2.gguf".
        fail_input(tr("patch_identity.made_checkpoint_another",
                      "{} was made for the checkpoint {}, and {} is a different one; open the checkpoint "
                      "that it was made for",
                      source, made_for.name, what));
    };
    if (own.config_sha256 != made_for.config_sha256)
        refuse(model.files().gguf() != nullptr ? tr("common.header", "the header of {}", model.path())
                                               : tr("common.of_2", "{} of {}", "config.json", model.path()));
    for (const CheckpointIdentity::File& file : own.files)
        if (std::ranges::find(made_for.files, file) == made_for.files.end())
            refuse(tr("common.of_2", "{} of {}", file.name, model.path()));
    if (own.files.size() != made_for.files.size())
        refuse(tr("patch_identity.number_tensor_files", "the number of tensor files of {}", model.path()));
}

} // namespace headscope::checkpoint
