#include "core/checkpoint/model/model.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/joined.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/base/message.h"
#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/families/families.h"
#include "core/checkpoint/files/adapter.h"
#include "core/checkpoint/files/checkpoint_files.h"
#include "core/checkpoint/files/checkpoint_folder.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/gguf/gguf_architecture.h"
#include "core/checkpoint/gguf/gguf_join.h"
#include "core/checkpoint/graph/model_stages.h"
#include "core/checkpoint/model/quantized.h"
#include "core/checkpoint/quantized/join.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace headscope::checkpoint {

namespace {

/// What this file calls the tensor: older ones have gamma for a norm's weight and beta for its bias.
std::string name_in(const TensorFiles& files, const std::string& name) {
    for (const auto& [now, once] : {std::pair("weight", "gamma"), std::pair("bias", "beta")})
        if (name.ends_with(now) && files.find(name) == nullptr) {
            const std::string old = name.substr(0, name.size() - std::string_view(now).size()) + once;
            if (files.find(old) != nullptr)
                return old;
        }
    return name;
}

/// Buffers that older files store inside layers and Hugging Face skips: causal masks, rotary tables,
/// positions.
bool is_known_buffer(std::string_view name) {
    constexpr std::array endings{
        ".attn.bias",   ".attn.masked_bias", ".attention.bias", ".attention.masked_bias",
        ".causal_mask", ".position_ids",     ".inv_freq",       ".cos_cached",
        ".sin_cached",  ".embed_positions"};
    return std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

std::atomic<UnknownTensors> unknown_tensors = UnknownTensors::refuse;

/// Of a head that is not tied, and what a file may call the word table of one that is.
std::string output_table_name(const Architecture& architecture) {
    const TensorName* const row = find_row(architecture.names.head, TensorId::W_U);
    return row == nullptr || !architecture.tied ? "" : row->name;
}

/// Returns true if the files have a tensor of the body under one of its usual names.
bool has_usual_names(const Architecture& a, const TensorFiles& files) {
    return std::ranges::any_of(a.names.prefixes, [&](std::string_view prefix) {
        return std::ranges::any_of(a.names.body, [&](const TensorName& row) {
            return files.find(full_name(row, prefix, 0)) != nullptr;
        });
    });
}

/// Removes what a wrapper of the model ("_orig_mod.", "module.", "model.") has added to all names, where no
/// tensor has its usual name.
void drop_extra_prefix(const Architecture& a, TensorFiles& files) {
    const Architecture& first = in_stack(a, Stack::encoder);
    if (has_usual_names(first, files))
        return;
    std::vector<std::string> usual;
    for (const std::string_view prefix : first.names.prefixes)
        for (const TensorName& row : first.names.body)
            usual.push_back("." + full_name(row, prefix, 0));
    std::string extra;
    for (const format::TensorEntry* const entry : files.entries())
        for (const std::string& name : usual)
            if (entry->name.ends_with(name)) {
                const std::string before = entry->name.substr(0, entry->name.size() - name.size() + 1);
                extra = extra.empty() || before.size() < extra.size() ? before : extra;
            }
    if (!extra.empty())
        files.rename([&](const std::string& name) {
            return name.starts_with(extra) ? name.substr(extra.size()) : name;
        });
}

} // namespace

void set_unknown_tensors(UnknownTensors policy) {
    unknown_tensors = policy;
}

struct Model::LazyStages {
    std::once_flag once;
    std::unique_ptr<const ModelStages> built;
};

const ModelConfig& Model::config() const {
    return *architecture_;
}

const ModelStages& Model::stages() const {
    std::call_once(stages_->once,
                   [&] { stages_->built = std::make_unique<const ModelStages>(*architecture_, has_head()); });
    return *stages_->built;
}

Model Model::open(const std::string& place, std::size_t kept_bytes) {
    if (const std::string missing = not_downloaded_message(place); !missing.empty())
        fail_input(missing);
    const std::string path = checkpoint_at(place);
    kept_bytes = std::min<std::uint64_t>(kept_bytes, available_memory() / 4);
    Model model;
    model.stages_ = std::make_shared<LazyStages>();
    model.path_ = path;
    const std::string base = base_of(path);
    model.folder_ = settings_folder(base);
    CheckpointFiles opened = open_checkpoint_files(base);
    model.files_ = std::move(opened.tensors);
    model.config_text_ = std::move(opened.config);
    model.assumed_ = std::move(opened.assumed);
    const GgufFile* const gguf = model.files_.gguf();
    if (gguf != nullptr) {
        model.architecture_ = std::make_shared<Architecture>(read_gguf_architecture(*gguf));
        join_gguf(model.files_);
    } else {
        model.architecture_ =
            std::make_shared<Architecture>(read_architecture(model.config_text_, opened.config_source));
        model.quantization_ =
            join_quantized(model.files_, parse_json(model.config_text_, opened.config_source));
    }
    if (opened.rotary_neighbours)
        model.architecture_->rotary_pairs = RotaryPairs::neighbours;
    drop_extra_prefix(*model.architecture_, model.files_);
    model.decide_tied();
    if (base != path)
        model.adapted_ = std::make_shared<const Adapted>(
            adapt(Adapter::open(path), base, *model.architecture_, model.files_));
    std::shared_ptr<Model> encoder;
    if (model.architecture_->encoder != nullptr) {
        encoder = std::shared_ptr<Model>(new Model(model));
        encoder->architecture_ = std::make_shared<Architecture>(*model.architecture_->encoder_architecture);
        encoder->stages_ = std::make_shared<LazyStages>();
        encoder->plan_kept(kept_bytes / 2);
        model.encoder_ = encoder;
    }
    model.plan_kept(encoder == nullptr ? kept_bytes : kept_bytes - kept_bytes / 2);
    std::set<std::string> known;
    if (encoder != nullptr)
        encoder->match_stack(known, model.report_);
    model.match_stack(known, model.report_);
    model.sort_others(known);
    if (unknown_tensors == UnknownTensors::ignore)
        model.ignored_ =
            model.files_.gguf() != nullptr ? model.report_.unknown : model.report_.unknown_in_layers;
    return model;
}

void Model::decide_tied() {
    const TensorName* const head = find_row(architecture_->names.head, TensorId::W_U);
    const std::string own = head == nullptr ? "" : name_in_files(*head, "", 0);
    if (!architecture_->tied || files_.find(own) == nullptr)
        return;
    // The table may be called by the name of any of its owners; the head's own name is no proof of a second
    // one.
    const auto differs = [&](const std::string& name) {
        return name != own && files_.find(name) != nullptr && !files_.same_numbers(name, own);
    };
    bool second = false;
    for (const Architecture* a :
         std::array<const Architecture*, 2>{architecture_->encoder_architecture.get(), architecture_.get()}) {
        if (a == nullptr)
            continue;
        if (const TensorName* const table = find_row(a->names.body, TensorId::W_E); table != nullptr)
            for (const std::string_view prefix : a->names.prefixes)
                second = second || differs(full_name(*table, prefix, 0));
        for (const auto& [weight, twin] : a->names.twins)
            second = second || (weight == TensorId::W_E && differs(twin));
    }
    architecture_->tied = !second;
}

void Model::plan_kept(std::size_t kept_bytes) {
    const NameMap& map = architecture_->names;
    const auto bytes_of = [&](const std::vector<TensorName>& rows, bool per_layer) {
        double bytes = 0;
        for (const TensorName& row : rows) {
            if (is_per_layer(row.weight) != per_layer || !is_needed(row, *architecture_))
                continue;
            double numbers = 1;
            for (const std::int64_t extent : file_extents(row, *architecture_))
                numbers *= static_cast<double>(extent);
            bytes += static_cast<double>(sizeof(float)) * numbers;
        }
        return bytes;
    };
    const double around = bytes_of(map.body, false) + bytes_of(map.head, false);
    const double layer = std::max(1.0, bytes_of(map.body, true) + bytes_of(map.cross, true));
    const double left = static_cast<double>(kept_bytes) - around;
    const auto last =
        static_cast<std::int64_t>(std::clamp(left / layer, 0.0, static_cast<double>(architecture_->layers)));
    const std::int64_t steps = architecture_->layers * attentions_per_layer();
    kept_ = std::make_shared<std::vector<KeptWeights>>(static_cast<std::size_t>(steps + 1));
    kept_->front().keep(left >= 0);
    for (std::int64_t step = steps - last * attentions_per_layer(); step < steps; ++step)
        (*kept_)[static_cast<std::size_t>(step + 1)].keep(true);
}

void Model::match_rows(const std::vector<TensorName>& rows, std::string_view prefix,
                       std::set<std::string>& known, std::vector<std::string>& missing,
                       std::vector<std::string>& wrong_shape) const {
    for (const TensorName& row : rows) {
        if (!is_needed(row, *architecture_))
            continue;
        const std::int64_t times = is_per_layer(row.weight) ? architecture_->layers : 1;
        for (std::int64_t l = 0; l < times; ++l) {
            if (!is_in_layer(row, *architecture_, l))
                continue;
            const std::vector<std::int64_t> wanted = file_extents(row, *architecture_, l);
            for (const std::string& name : names_in_files(row, prefix, l)) {
                if (!known.insert(name).second)
                    continue; // another layer has it too
                const format::TensorEntry* entry = files_.find(name);
                if (entry == nullptr && !row.may_lack)
                    missing.push_back(name);
                else if (entry != nullptr && entry->extents != wanted)
                    wrong_shape.push_back(files_.gguf() == nullptr
                                              ? tr("model.shape_config_json_should",
                                                   "{} has shape {}; config.json requires {}", name,
                                                   entry->shape_text(), extents_text(wanted))
                                              : tr("model.shape_other_keys_should",
                                                   "{} has shape {}; the other keys require {}", name,
                                                   entry->shape_text(), extents_text(wanted)));
            }
        }
    }
}

void Model::match_stack(std::set<std::string>& known, CheckpointReport& report) {
    const NameMap& map = architecture_->names;
    const auto prefix = std::ranges::find_if(map.prefixes, [&](std::string_view candidate) {
        return std::ranges::any_of(map.body, [&](const TensorName& row) {
            return files_.find(full_name(row, candidate, 0)) != nullptr;
        });
    });
    prefix_ = prefix == map.prefixes.end() ? map.prefixes.front() : *prefix;
    // The graph names tensors by the first one.
    std::vector<std::string_view>& prefixes = architecture_->names.prefixes;
    std::rotate(prefixes.begin(), std::ranges::find(prefixes, prefix_), prefixes.end());
    match_rows(map.body, prefix_, known, report.missing, report.wrong_shape);
    match_rows(map.cross, prefix_, known, report.missing, report.wrong_shape);
    match_rows(map.head, "", known, report.head_missing, report.wrong_shape);
}

bool Model::is_of_no_use(const std::string& name) const {
    const NameMap& map = architecture_->names;
    return name == output_table_name(*architecture_) ||
           std::ranges::any_of(map.twins, [&](const auto& twin) { return twin.second == name; }) ||
           std::ranges::any_of(map.not_needed,
                               [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

bool Model::is_in_a_layer(const std::string& name) const {
    const auto of_rows = [&](const std::vector<TensorName>& rows) {
        return std::ranges::any_of(rows, [&](const TensorName& row) {
            const std::size_t mark = row.name.find("{l}");
            if (mark == std::string::npos)
                return false;
            const std::string stem = prefix_ + row.name.substr(0, mark);
            if (!name.starts_with(stem))
                return false;
            std::int64_t l = -1;
            const char* const end = name.data() + name.size();
            const auto [rest, error] = std::from_chars(name.data() + stem.size(), end, l);
            // Layers after the last are of no use: those of a next-token predictor, for one.
            return error == std::errc() && rest != end && *rest == '.' && l >= 0 &&
                   l < architecture_->layers / row.shared_by;
        });
    };
    return of_rows(architecture_->names.body) || of_rows(architecture_->names.cross);
}

/// AutoGPTQ gives every matrix a bias, of zeros where the model has none.
bool Model::is_empty_bias(const std::string& name) const {
    constexpr std::string_view ending = "bias";
    return name.ends_with(".bias") &&
           files_.is_joined(name.substr(0, name.size() - ending.size()) + "weight") &&
           std::ranges::all_of(files_.tensor(name)->values(), [](float number) { return number == 0; });
}

void Model::sort_others(const std::set<std::string>& known) {
    for (const format::TensorEntry* entry : files_.entries()) {
        std::int64_t numbers = 1;
        for (const std::int64_t extent : entry->extents)
            numbers *= extent;
        report_.parameters[entry->dtype] += numbers;
        if (known.contains(entry->name) || add_to_other_parts(report_.other_parts, entry->name, numbers))
            continue;
        const bool useless =
            is_of_no_use(entry->name) || (encoder_ != nullptr && encoder_->is_of_no_use(entry->name));
        const bool in_layer = !useless && (is_in_a_layer(entry->name) ||
                                           (encoder_ != nullptr && encoder_->is_in_a_layer(entry->name)));
        const bool buffer = in_layer && (is_known_buffer(entry->name) || is_empty_bias(entry->name));
        (useless || buffer ? report_.unused : report_.unknown).push_back(entry->name);
        if (in_layer && !buffer)
            report_.unknown_in_layers.push_back(entry->name);
    }
}

std::string Model::problem() const {
    const auto first_of = [](const std::vector<std::string>& names) {
        const std::size_t more = names.size() - 1;
        return more > 0 ? tr("model.more", "{} and {} more", names.front(), more) : names.front();
    };
    // Layers have the same kinds of tensors: each is named once.
    const auto kinds_of = [&](const std::vector<std::string>& names) {
        constexpr std::size_t most = 6;
        std::vector<std::string> kinds;
        std::set<std::string> seen;
        for (const std::string& name : names) {
            std::string kind = name;
            std::erase_if(kind, [](char c) { return c >= '0' && c <= '9'; });
            if (seen.insert(kind).second && kinds.size() < most)
                kinds.push_back(name);
        }
        const std::string listed = joined(kinds);
        return names.size() > kinds.size()
                   ? tr("model.more", "{} and {} more", listed, names.size() - kinds.size())
                   : listed;
    };
    const bool gguf = files_.gguf() != nullptr;
    if (const auto quantized = find_quantized(*this))
        return quantized->sentence(path_);
    const bool fits = report_.wrong_shape.empty() && report_.missing.empty() &&
                      (report_.unknown_in_layers.empty() || !ignored_.empty());
    if (!fits && is_saved_by_mlx(files_))
        return tr("model.mlx_saved_files_names",
                  "{}: MLX saved these files, and its names or layouts of {} models are not read here; "
                  "download the model that they were made from",
                  path_, architecture_->family);
    if (!report_.wrong_shape.empty())
        return tr("model.get_files_belong_together", "{}: {}; get the files that belong together", path_,
                  report_.wrong_shape.front());
    if (!report_.missing.empty()) {
        const std::string names = first_of(report_.missing);
        // Translators: the second form has several tensors, such as "W_Q and 3 more".
        return (report_.missing.size() > 1
                    ? tr("model.tensor_missing_get_checkpoint",
                         "{}: the tensors {} are missing; get the checkpoint again", path_, names)
                    : tr("model.tensor_missing_get_checkpoint_2",
                         "{}: the tensor {} is missing; get the checkpoint again", path_, names)) +
               (gguf ? "" : tr("model.correct_family_config_json", ", or correct the family in config.json"));
    }
    const std::vector<std::string>& unknown = gguf ? report_.unknown : report_.unknown_in_layers;
    if (gguf && !unknown.empty() && ignored_.empty())
        return tr(
            "model.tensor_models_not_here",
            "{} has the tensor {}, which {} models do not have here, and without it the numbers would be "
            "wrong; get another file of the model, or compute without it by --ignore-unknown",
            path_, kinds_of(unknown), architecture_->family);
    if (!unknown.empty() && ignored_.empty())
        return tr(
            "model.tensor_models_not_here_2",
            "{} has the tensor {}, which {} models do not have here, and without it the numbers would be "
            "wrong; correct the family in config.json, or compute without it by --ignore-unknown",
            path_, kinds_of(unknown), architecture_->family);
    return "";
}

void Model::require_runnable() const {
    if (const std::string sentence = problem(); !sentence.empty())
        fail_input(sentence);
}

std::string Model::name_in_files(const TensorName& row, std::string_view prefix, std::int64_t l) const {
    std::string name = name_in(files_, full_name(row, prefix, l));
    if (files_.find(name) != nullptr)
        return name;
    // Of tensors that share their memory a file may keep only one, under either name.
    for (const auto& [weight, twin] : architecture_->names.twins)
        if (weight == row.weight && files_.find(twin) != nullptr)
            return twin;
    const std::string twin = row.weight == TensorId::W_E ? output_table_name(*architecture_) : "";
    return !twin.empty() && files_.find(twin) != nullptr ? twin : name;
}

std::vector<std::string> Model::names_in_files(const TensorName& row, std::string_view prefix,
                                               std::int64_t l) const {
    if (row.layout != Layout::expert_linears && row.layout != Layout::copy_linears)
        return {name_in_files(row, prefix, l)};
    std::vector<std::string> names = full_names(row, prefix, l, *architecture_);
    for (std::string& name : names)
        name = name_in(files_, name);
    return names;
}

} // namespace headscope::checkpoint
