#include "core/checkpoint/files/local_models.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/files/adapter.h"
#include "core/checkpoint/files/checkpoint_folder.h"
#include "core/checkpoint/files/consolidated.h"
#include "core/checkpoint/files/state_dict.h"
#include "core/checkpoint/files/toy_model.h"
#include "core/checkpoint/gguf/gguf_file.h"
#include "core/checkpoint/gguf/gguf_parts.h"
#include "core/hub/cache.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

namespace headscope::checkpoint {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view models_prefix = "models--";

/// The folders in a folder; none when it cannot be read.
std::vector<fs::path> folders_in(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code fault;
    for (fs::directory_iterator entry(folder, fault), end; !fault && entry != end; entry.increment(fault))
        if (std::error_code ignored; entry->is_directory(ignored))
            found.push_back(entry->path());
    return found;
}

/// "models--openai-community--gpt2" is openai-community/gpt2.
std::string name_of(const fs::path& folder) {
    std::string name = folder.filename().string().substr(models_prefix.size());
    constexpr std::string_view joint = "--";
    for (auto at = name.find(joint); at != std::string::npos; at = name.find(joint, at + 1))
        name.replace(at, joint.size(), "/");
    return name;
}

/// Tensors are there as well as config.json, and no link leads nowhere.
bool has_tensors(const fs::path& folder) {
    return is_adapter(folder.string()) || is_consolidated(folder.string()) ||
           (is_checkpoint(folder.string()) && TensorFiles::are_in(folder.string()));
}

/// Returns true if the headers of all files with tensors can be read: an interrupted download of another
/// program may lack some.
bool has_all_tensors(const std::string& folder) {
    try {
        if (is_adapter(folder))
            static_cast<void>(Adapter::open(folder));
        else if (!is_consolidated(folder))
            static_cast<void>(TensorFiles::open(folder));
        return true;
    } catch (const Error&) {
        return false;
    }
}

/// What a folder is or holds itself, called `name` or after it.
void add_models(const fs::path& folder, const std::string& name, const std::string& before,
                std::vector<LocalModel>& found) {
    if (has_tensors(folder))
        found.push_back(describe_model(name, folder.string()));
    for (const std::string& file : gguf_models_in(folder.string()))
        found.push_back(describe_model(before + fs::path(file).filename().string(), file));
}

} // namespace

bool is_checkpoint(const std::string& path) {
    std::error_code ignored;
    return fs::is_regular_file(fs::path(path) / "config.json", ignored) || is_gguf(path) ||
           is_weights_file(path) || is_adapter(path) || is_consolidated(path) || is_state_dict(path) ||
           is_toy_model(path);
}

bool lacks_config(const std::string& path) {
    if (is_checkpoint(fs::path(path).parent_path().string()))
        return false;
    try {
        const format::Safetensors file = format::Safetensors::open_lazily(path);
        constexpr std::ptrdiff_t fewest = 4; // attention alone has as many matrices
        return std::ranges::count_if(file.entries(), [](const format::SafetensorsEntry& entry) {
                   return entry.name.ends_with(".weight");
               }) >= fewest;
    } catch (const Error&) {
        return false;
    }
}

std::vector<std::string> tokenizer_sources(const Model& model) {
    if (const GgufFile* const gguf = model.files().gguf()) {
        const nlohmann::json* const kind = gguf->metadata().find("tokenizer.ggml.model");
        if (kind == nullptr || !kind->is_string())
            return {};
        return {tr("local_models.file", "{} in the file", kind->get<std::string>())};
    }
    return tokenizer_files(model.folder());
}

std::vector<std::string> tokenizer_files(const std::string& folder) {
    std::vector<std::string> found;
    for (const char* name :
         {"tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt", "vocab.txt",
          "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "spm.model", "sentencepiece.model",
          "source.spm", "target.spm", "special_tokens_map.json", "added_tokens.json"})
        if (std::error_code ignored; fs::exists(fs::path(folder) / name, ignored))
            found.emplace_back(name);
    return found;
}

LocalModel describe_model(const std::string& name, const std::string& path) {
    LocalModel found;
    found.name = name;
    found.path = path;
    try {
        const Model model = Model::open(path);
        found.family = model.config().family;
        found.layers = model.config().layers;
        found.H = model.config().H;
        for (const auto& [dtype, numbers] : model.report().parameters)
            found.parameters += numbers;
        for (const TensorFiles::File& file : model.files().files())
            found.bytes += std::visit([](const auto& opened) { return opened->size_bytes(); }, file);
        const std::vector<std::string> tokenizers = tokenizer_sources(model);
        found.tokenizer = tokenizers.empty() ? "" : tokenizers.front();
        found.problem = model.problem();
    } catch (const Error& fault) {
        found.problem = fault.what();
    }
    return found;
}

std::string local_models_folder() {
    return hub::cache_folder();
}

std::string checkpoint_name(const std::string& folder) {
    fs::path path = fs::path(folder).lexically_normal();
    if (!path.has_filename())
        path = path.parent_path();
    const fs::path kept = path.parent_path().parent_path();
    const bool cached =
        path.parent_path().filename() == "snapshots" && kept.filename().string().starts_with(models_prefix);
    return cached ? name_of(kept) : path.filename().string();
}

std::optional<std::string> downloaded_folder(const hub::ModelName& model) {
    const hub::CachedModel cached(hub::cache_folder(), model.name);
    const std::optional<std::string> folder = model.revision == hub::ModelName().revision
                                                  ? cached_revision(cached.folder().string())
                                                  : cached.revision_folder(model.revision);
    if (!folder)
        return std::nullopt;
    const bool complete =
        !gguf_models_in(*folder).empty() || (has_tensors(*folder) && has_all_tensors(*folder));
    return complete ? folder : std::nullopt;
}

std::vector<LocalModel> local_models(const std::string& folder) {
    std::vector<LocalModel> found;
    if (is_gguf(folder) || is_weights_file(folder))
        found.push_back(describe_model(checkpoint_name(folder), folder));
    add_models(folder, checkpoint_name(folder), "", found);
    for (const fs::path& inner : folders_in(folder)) {
        if (!inner.filename().string().starts_with(models_prefix))
            add_models(inner, inner.filename().string(), inner.filename().string() + "/", found);
        else if (const auto revision = cached_revision(inner.string()))
            add_models(*revision, name_of(inner), name_of(inner) + "/", found);
    }
    std::ranges::sort(found, {}, &LocalModel::name);
    return found;
}

} // namespace headscope::checkpoint
