#include "core/project/checkpoint_project.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/base/sha256.h"
#include "core/checkpoint/files/checkpoint_files.h"
#include "core/checkpoint/files/local_models.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/model/patch_file.h"
#include "core/checkpoint/model/patch_identity.h"
#include "core/checkpoint/model/stacks.h"
#include "core/project/checksum.h"
#include "core/project/project_file.h"
#include "core/text/tokenizer/json_field.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

namespace headscope::project {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using text::JsonField;
namespace fs = std::filesystem;

constexpr std::int64_t largest_number = std::int64_t{1} << 53U;

std::string folder_of(const std::string& path) {
    std::error_code ignored;
    return fs::absolute(path, ignored).lexically_normal().parent_path().string();
}

ordered_json activations_json(const std::vector<ActivationEdit>& activations) {
    ordered_json list = ordered_json::array();
    for (const ActivationEdit& one : activations)
        list.push_back({{"attention", one.attention},
                        {"tensor", tensor_info(one.at).name},
                        {"row", one.row},
                        {"column", one.column},
                        {"value", one.value}});
    return list;
}

ordered_json structure_of(const CheckpointProject& project, const checkpoint::Model& model) {
    ordered_json place;
    if (!project.model.packaged.empty()) {
        place["packaged"] = project.model.packaged;
    } else {
        place["path"] = project.model.path;
        if (!project.model.relative.empty())
            place["relative"] = project.model.relative;
    }
    ordered_json out{{"format", checkpoint_project_format},
                     {"program", HEADSCOPE_VERSION},
                     {"title", checkpoint::checkpoint_name(model.path()) + ": " + project.text},
                     {"model", place},
                     {"text", project.text},
                     {"ids", project.ids}};
    if (!project.text_pair.empty())
        out["text_pair"] = project.text_pair;
    if (model.encoder() != nullptr) {
        out["decoder_text"] = project.decoder_text;
        out["decoder_ids"] = project.decoder_ids;
    }
    out["written"] = project.generated_count;
    if (!project.activations.empty())
        out["activations"] = activations_json(project.activations);
    out[std::string(checksum_field)] = "sha256";
    return out;
}

std::vector<std::int64_t> read_ids(const JsonField& root, const char* key) {
    std::vector<std::int64_t> ids;
    if (const auto list = root.find(key))
        for (const JsonField& id : list->elements())
            ids.push_back(id.integer(largest_number));
    return ids;
}

std::vector<ActivationEdit> read_activations(const JsonField& root) {
    std::vector<ActivationEdit> read;
    const auto list = root.find("activations");
    if (!list)
        return read;
    for (const JsonField& one : list->elements()) {
        const JsonField name = one.at("tensor"), value = one.at("value");
        const auto id = find_block_stage(name.string());
        if (!id)
            name.fail(
                tr("checkpoint_project.should_stage_around", "it should be a stage outside the attention"));
        const float number = value.value().is_number() ? value.value().get<float>() : INFINITY;
        if (!std::isfinite(number))
            value.fail(tr("checkpoint_project.should_number_float32",
                          "it should be a number that float32 can hold"));
        read.push_back({one.at("attention").integer(checkpoint::most_layers), *id,
                        one.at("row").integer(largest_number), one.at("column").integer(largest_number),
                        number});
    }
    return read;
}

void read_structure(const JsonField& root, CheckpointProject& project) {
    if (const JsonField format = root.at("format");
        format.integer(largest_number) != checkpoint_project_format)
        format.fail(
            tr("common.program_reads_version_1", "this program reads version 1; use the one that wrote it"));
    project.program = root.string_or("program", "");
    const JsonField model = root.at("model");
    project.model = {.packaged = model.string_or("packaged", ""),
                     .path = model.string_or("path", ""),
                     .relative = model.string_or("relative", "")};
    project.text = root.string_or("text", "");
    project.text_pair = root.string_or("text_pair", "");
    project.decoder_text = root.string_or("decoder_text", "");
    project.ids = read_ids(root, "ids");
    project.decoder_ids = read_ids(root, "decoder_ids");
    if (const auto written = root.find("written"))
        project.generated_count = written->integer(largest_number);
    project.activations = read_activations(root);
}

std::string entry(const format::Safetensors& file, std::string_view key) {
    const auto at = file.metadata().find(std::string(key));
    return at == file.metadata().end() ? std::string() : at->second;
}

/// Returns true if a checkpoint has the same config.json as the project's or, for a GGUF file, the same name.
bool matches_identity(const std::string& path, const checkpoint::CheckpointIdentity& identity) {
    std::error_code ignored;
    const std::string folder = checkpoint::settings_folder(path);
    if (!fs::is_directory(folder, ignored))
        return fs::path(path).filename() == identity.name;
    try {
        return sha256(checkpoint::checkpoint_config(path)) == identity.config_sha256;
    } catch (const Error&) {
        return false;
    }
}

} // namespace

ModelLocation model_location(const std::string& model_path, const std::string& project_path) {
    std::error_code ignored;
    const fs::path model = fs::absolute(model_path, ignored).lexically_normal();
    if (checkpoint::is_unpacked(model.string()))
        return {.packaged = model.filename().string()};
    return {.path = model.string(), .relative = model.lexically_relative(folder_of(project_path)).string()};
}

std::string checkpoint_project_bytes(const checkpoint::Model& model, const checkpoint::ModelEdits& edits,
                                     const CheckpointProject& project) {
    std::map<std::string, std::string> metadata = project.metadata;
    metadata[std::string(checkpoint_key)] = dump_json(structure_of(project, model));
    metadata[std::string(checksum_key)] = placeholder_checksum();
    if (!project.view.empty())
        metadata[std::string(view_key)] = project.view;
    if (!project.questions.empty())
        metadata[checkpoint::questions_key] = project.questions;
    std::string bytes = checkpoint::patch_bytes_with(model, edits, metadata);
    write_checksum(bytes);
    return bytes;
}

void save_checkpoint_project(const checkpoint::Model& model, const checkpoint::ModelEdits& edits,
                             const CheckpointProject& project, const std::string& path) {
    checkpoint::refuse_checkpoint_folder(model, path);
    write_file_atomically(path, checkpoint_project_bytes(model, edits, project));
}

bool is_checkpoint_project(const format::Safetensors& file) {
    return file.metadata().contains(std::string(checkpoint_key));
}

OpenedCheckpointProject open_checkpoint_project(const std::string& path) {
    return parse_checkpoint_project(read_file(path, std::numeric_limits<std::uint64_t>::max()), path);
}

OpenedCheckpointProject parse_checkpoint_project(std::string bytes, const std::string& source) {
    const std::optional<bool> holds = checksum_matches(bytes);
    OpenedCheckpointProject opened{{}, format::Safetensors::from_bytes(std::move(bytes), source)};
    CheckpointProject& project = opened.project;
    project.model_name = checkpoint::read_patch_header(opened.file).made_for.name;
    project.questions = entry(opened.file, checkpoint::questions_key);
    project.view = entry(opened.file, view_key);
    project.metadata = opened.file.metadata();
    json structure;
    if (is_checkpoint_project(opened.file)) {
        const std::string place = source + ": " + std::string(checkpoint_key);
        structure = parse_json_with_bytes(entry(opened.file, checkpoint_key), place);
        read_structure(JsonField(structure, place), project);
    }
    if (is_damaged(holds, opened.file, structure))
        fail_input(tr("checkpoint_project.damaged_bytes_not",
                      "{} is damaged: its bytes are not those that were saved; open a copy of it", source));
    return opened;
}

checkpoint::ModelEdits edits_of_project(const checkpoint::Model& model,
                                        const OpenedCheckpointProject& opened) {
    checkpoint::ModelEdits edits = checkpoint::read_patch(model, opened.file);
    const std::int64_t count = checkpoint::attention_count(model.config());
    for (const ActivationEdit& one : opened.project.activations) {
        if (one.attention >= count)
            fail_input(tr("common.changes_layer_layers_0", "{} changes layer {}; {} has layers 0 to {}",
                          opened.file.source(), one.attention, model.path(), count - 1));
        edits[one.attention].patched.push_back(
            {.at = one.at,
             .first = one.row,
             .rows = std::make_shared<const Tensor>(Shape{1, 1}, one.value),
             .column = one.column});
    }
    if (!opened.project.activations.empty())
        checkpoint::check_edits(model, edits);
    return edits;
}

std::optional<std::string> find_model(const OpenedCheckpointProject& opened, const std::string& project_path,
                                      const std::vector<std::string>& others) {
    const ModelLocation& place = opened.project.model;
    if (checkpoint::is_packaged(place.packaged))
        return checkpoint::model_folder(place.packaged);
    const checkpoint::CheckpointIdentity identity = checkpoint::read_patch_header(opened.file).made_for;
    const fs::path folder = folder_of(project_path);
    std::vector<std::string> places;
    if (!place.path.empty())
        places.push_back(place.path);
    if (!place.relative.empty())
        places.push_back((folder / place.relative).lexically_normal().string());
    if (!identity.name.empty())
        places.push_back((folder / identity.name).string());
    const std::size_t own = places.size();
    places.insert(places.end(), others.begin(), others.end());
    for (const std::string& name : checkpoint::packaged_models())
        if (name == identity.name)
            places.push_back(checkpoint::model_folder(name));
    std::erase_if(places, [](const std::string& path) { return !checkpoint::is_checkpoint(path); });
    const auto same = std::ranges::find_if(
        places, [&](const std::string& path) { return matches_identity(path, identity); });
    if (same != places.end())
        return *same;
    // A different checkpoint at the model's own path: opening it reports the differences.
    const bool there = own > 0 && !place.path.empty() && checkpoint::is_checkpoint(place.path);
    return there ? std::optional(place.path) : std::nullopt;
}

bool matches_model(const OpenedCheckpointProject& opened, const std::string& model_path) {
    return matches_identity(model_path, checkpoint::read_patch_header(opened.file).made_for);
}

std::string missing_model_message(const CheckpointProject& project, const std::string& project_path) {
    const std::string name = fs::path(project_path).filename().string();
    return project.model.path.empty() ? tr("checkpoint_project.belongs_model_not",
                                           "{} belongs to the model {}, which is not known on this machine",
                                           name, project.model_name)
                                      : tr("checkpoint_project.saved_model_no_longer",
                                           "{} was saved with the model {}, which is no longer at {}", name,
                                           project.model_name, project.model.path);
}

} // namespace headscope::project
