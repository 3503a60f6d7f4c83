#include "core/checkpoint/files/adapter.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/checkpoint/files/config_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace headscope::checkpoint {

namespace fs = std::filesystem;

namespace {

using nlohmann::json;

/// Keys that are read here, or that say how the adapter was trained and change no number of it.
constexpr std::array<std::string_view, 30> harmless_keys{"alpha_pattern",
                                                         "auto_mapping",
                                                         "base_model_name_or_path",
                                                         "bias",
                                                         "corda_config",
                                                         "ensure_weight_tying",
                                                         "eva_config",
                                                         "exclude_modules",
                                                         "fan_in_fan_out",
                                                         "inference_mode",
                                                         "init_lora_weights",
                                                         "layers_pattern",
                                                         "layers_to_transform",
                                                         "loftq_config",
                                                         "lora_alpha",
                                                         "lora_dropout",
                                                         "lora_ga_config",
                                                         "megatron_core",
                                                         "modules_to_save",
                                                         "peft_type",
                                                         "peft_version",
                                                         "qalora_group_size",
                                                         "r",
                                                         "rank_pattern",
                                                         "revision",
                                                         "runtime_config",
                                                         "target_modules",
                                                         "task_type",
                                                         "use_qalora",
                                                         "use_rslora"};

bool says_nothing(const json& value) {
    return value.is_null() || value == false || value == "" ||
           ((value.is_object() || value.is_array()) && value.empty());
}

/// Ways to begin training that change the base model too, so that its own files do not fit the adapter.
void refuse_changed_base(const ConfigReader& reader) {
    const char* key = "init_lora_weights";
    const json* const value = reader.find(key);
    if (value == nullptr || value->is_boolean())
        return;
    constexpr std::array harmless{"gaussian", "eva", "orthogonal"};
    const std::string named = value->is_string() ? value->get<std::string>() : "";
    if (std::ranges::find(harmless, named) == harmless.end())
        reader.refuse(key, tr("adapter.init_changes_base",
                              "true, false or gaussian: other ways to begin change the base model too; "
                              "convert the adapter to plain LoRA with PEFT"));
}

void check_keys(const ConfigReader& reader) {
    const std::string type = reader.text("peft_type", "");
    if (type != "LORA")
        reader.refuse("peft_type", tr("adapter.only_lora", "LORA, the only kind of adapter computed here"));
    if (reader.flag("use_dora", false))
        reader.refuse("use_dora", tr("adapter.no_dora",
                                     "false: DoRA is not computed here; merge the adapter into its base with "
                                     "PEFT's merge_and_unload, and open what that saves"));
    if (reader.flag("use_qalora", false))
        reader.refuse("use_qalora", tr("adapter.no_qalora", "false: QALoRA is not computed here"));
    refuse_changed_base(reader);
    for (const auto& [key, value] : reader.all().items())
        if (std::ranges::find(harmless_keys, key) == harmless_keys.end() && key != "use_dora" &&
            !says_nothing(value))
            reader.refuse(key, tr("adapter.unknown_key",
                                  "absent: it is not known here and may change the numbers; merge the "
                                  "adapter into its base with PEFT's merge_and_unload"));
}

/// Returns true if a pattern of PEFT, a regular expression, means a module: its name, or its last parts. Only
/// names,
/// "." for any character and "\." for a dot are read.
bool pattern_matches(const ConfigReader& reader, std::string_view key, std::string_view pattern,
                     std::string_view module) {
    const bool whole = pattern.starts_with('^');
    if (whole)
        pattern.remove_prefix(1);
    if (pattern.ends_with('$') && !pattern.ends_with("\\$"))
        pattern.remove_suffix(1);
    std::vector<std::optional<char>> wanted; // nothing: any character
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] == '\\' && i + 1 < pattern.size() && pattern[i + 1] == '.')
            wanted.emplace_back(pattern[++i]);
        else if (std::string_view("\\*+?()[]{}|^$").find(pattern[i]) != std::string_view::npos)
            reader.refuse(key, tr("adapter.pattern_not_read",
                                  "an object whose keys are names of modules, not regular expressions"));
        else if (pattern[i] == '.')
            wanted.emplace_back(std::nullopt);
        else
            wanted.emplace_back(pattern[i]);
    }
    if (wanted.size() > module.size() || (whole && wanted.size() != module.size()))
        return false;
    const std::string_view end = module.substr(module.size() - wanted.size());
    if (end.size() < module.size() && module[module.size() - end.size() - 1] != '.')
        return false;
    return std::ranges::equal(wanted, end,
                              [](const std::optional<char>& one, char c) { return !one || *one == c; });
}

double alpha_of(const ConfigReader& reader, std::string_view module) {
    const char* key = "alpha_pattern";
    const double usual = reader.number("lora_alpha").value_or(8.0);
    const auto patterns = reader.object(key);
    if (!patterns)
        return usual;
    for (const auto& [pattern, alpha] : patterns->all().items())
        if (pattern_matches(reader, key, pattern, module))
            return patterns->number(pattern).value_or(usual);
    return usual;
}

/// The part of a module that a tensor of the adapter is.
enum class AdapterPart : std::uint8_t { A, B, table_A, table_B, whole, none };

/// The name without what PEFT adds to it, and the part that the tensor is.
std::pair<std::string, AdapterPart> parse_name(std::string name, const std::string& source) {
    for (const std::string_view prefix : {"base_model.model.", "base_model."})
        if (name.starts_with(prefix)) {
            name.erase(0, prefix.size());
            break;
        }
    const std::string full = name;
    for (const std::string_view inner : {".modules_to_save.default.", ".modules_to_save.", ".base_layer."})
        if (const auto at = name.find(inner); at != std::string::npos)
            name.erase(at, inner.size() - 1); // the last dot stays
    if (name.find(".original_module.") != std::string::npos)
        return {name, AdapterPart::none};
    constexpr std::array<std::pair<std::string_view, AdapterPart>, 8> endings{
        {{".lora_A.weight", AdapterPart::A},
         {".lora_A.default.weight", AdapterPart::A},
         {".lora_B.weight", AdapterPart::B},
         {".lora_B.default.weight", AdapterPart::B},
         {".lora_embedding_A", AdapterPart::table_A},
         {".lora_embedding_A.default", AdapterPart::table_A},
         {".lora_embedding_B", AdapterPart::table_B},
         {".lora_embedding_B.default", AdapterPart::table_B}}};
    for (const auto& [ending, part] : endings)
        if (name.ends_with(ending))
            return {name.substr(0, name.size() - ending.size()), part};
    if (name.find("lora_magnitude_vector") != std::string::npos)
        fail_input(tr("adapter.dora_tensor",
                      "{} has the tensor {} of a DoRA adapter, which is not computed here; merge the adapter "
                      "into its base with PEFT's merge_and_unload, and open what that saves",
                      source, full));
    if (name.find("lora_") != std::string::npos)
        fail_input(tr("adapter.unknown_tensor",
                      "{} has the tensor {}, which is not known here; merge the adapter into its base with "
                      "PEFT's merge_and_unload, and open what that saves",
                      source, full));
    return {name, AdapterPart::whole};
}

std::string weights_in(const std::string& folder) {
    for (const char* const name : {"/adapter_model.safetensors", "/adapter_model.bin"})
        if (std::error_code ignored; fs::is_regular_file(folder + name, ignored))
            return folder + name;
    return "";
}

std::string adapter_folder(const std::string& path) {
    const fs::path file(path);
    if (file.filename() != adapter_config_name)
        return path;
    return file.has_parent_path() ? file.parent_path().string() : ".";
}

} // namespace

bool has_adapter(const std::string& folder) {
    std::error_code ignored;
    return fs::is_regular_file(fs::path(folder) / adapter_config_name, ignored) &&
           !weights_in(folder).empty();
}

bool is_adapter(const std::string& path) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored))
        return fs::path(path).filename() == adapter_config_name && fs::is_regular_file(path, ignored);
    return has_adapter(path) && !TensorFiles::are_in(path);
}

Adapter Adapter::open(const std::string& path) {
    const std::string folder = adapter_folder(path), config = folder + "/" + adapter_config_name,
                      weights = weights_in(folder);
    if (weights.empty())
        fail_input(tr("adapter.no_weights",
                      "{} describes an adapter whose weights are missing: put adapter_model.safetensors or "
                      "adapter_model.bin into the folder {}",
                      config, folder));
    Adapter adapter =
        read(read_file(config), config, std::make_shared<const TensorFiles>(TensorFiles::open_file(weights)));
    adapter.folder_ = folder;
    return adapter;
}

Adapter Adapter::read(std::string_view config, const std::string& source,
                      std::shared_ptr<const TensorFiles> tensors) {
    Adapter adapter;
    const json parsed = parse_json(config, source);
    const ConfigReader reader(parsed, source);
    check_keys(reader);
    adapter.base_name_ = reader.text("base_model_name_or_path", "");
    adapter.revision_ = reader.text("revision", "");
    adapter.files_ = std::move(tensors);
    const std::string& weights = source;
    struct Pair {
        std::string A, B;
        bool of_table = false;
    };
    std::map<std::string, Pair> pairs;
    for (const format::TensorEntry* const entry : adapter.files_->entries()) {
        const auto [name, part] = parse_name(entry->name, weights);
        if (part == AdapterPart::whole)
            adapter.replacements_.push_back({name, entry->name});
        if (part == AdapterPart::whole || part == AdapterPart::none)
            continue;
        Pair& pair = pairs[name];
        pair.of_table = pair.of_table || part == AdapterPart::table_A || part == AdapterPart::table_B;
        (part == AdapterPart::A || part == AdapterPart::table_A ? pair.A : pair.B) = entry->name;
    }
    const bool by_root = reader.flag("use_rslora", false);
    for (const auto& [module, pair] : pairs) {
        const format::TensorEntry* const A = pair.A.empty() ? nullptr : adapter.files_->find(pair.A);
        const format::TensorEntry* const B = pair.B.empty() ? nullptr : adapter.files_->find(pair.B);
        if (A == nullptr || B == nullptr || A->extents.size() != 2 || B->extents.size() != 2 ||
            A->extents[0] < 1 || A->extents[0] != B->extents[1])
            fail_input(tr("adapter.no_pair",
                          "{}: {} should have a matrix lora_A (r, d_in) and a matrix lora_B (d_out, r); save "
                          "the adapter again",
                          weights, module));
        const std::int64_t rank = A->extents[0];
        const auto r = static_cast<double>(rank);
        adapter.products_.push_back({.module = module,
                                     .A = pair.A,
                                     .B = pair.B,
                                     .rank = rank,
                                     .scale = alpha_of(reader, module) / (by_root ? std::sqrt(r) : r),
                                     .of_table = pair.of_table});
    }
    if (adapter.products_.empty() && adapter.replacements_.empty())
        fail_input(tr("adapter.empty", "{} has no tensors; save the adapter again", weights));
    return adapter;
}

} // namespace headscope::checkpoint
