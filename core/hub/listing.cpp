#include "core/hub/listing.h"

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/hub/cache.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace headscope::hub {

namespace {

using nlohmann::json;

/// Files without weights that describe a model or its tokenizer.
constexpr std::array descriptions{"config.json",
                                  "generation_config.json",
                                  "params.json",
                                  "adapter_config.json",
                                  "quantize_config.json",
                                  "quant_config.json",
                                  "hf_quant_config.json",
                                  "tokenizer.json",
                                  "tokenizer_config.json",
                                  "special_tokens_map.json",
                                  "added_tokens.json",
                                  "vocab.json",
                                  "merges.txt",
                                  "vocab.txt",
                                  "tokenizer.model",
                                  "spiece.model",
                                  "sentencepiece.bpe.model",
                                  "sentencepiece.model",
                                  "spm.model",
                                  "source.spm",
                                  "target.spm"};

/// Weights of one kind, in one file or in parts that an index lists.
struct Weights {
    const char *index, *whole; ///< index: null if there are no parts
};
/// The first kind that a model has is taken.
constexpr std::array kinds{Weights{"model.safetensors.index.json", "model.safetensors"},
                           Weights{nullptr, "adapter_model.safetensors"},
                           Weights{"consolidated.safetensors.index.json", "consolidated.safetensors"},
                           Weights{"pytorch_model.bin.index.json", "pytorch_model.bin"},
                           Weights{nullptr, "adapter_model.bin"}};

const ListedFile* find_file(const std::vector<ListedFile>& files, std::string_view name) {
    const auto found = std::ranges::find(files, name, &ListedFile::name);
    return found == files.end() ? nullptr : &*found;
}

bool stays_in_folder(std::string_view name) {
    if (name.find('\0') != std::string_view::npos)
        return false;
    for (std::size_t begin = 0; begin <= name.size();) {
        const std::size_t end = std::min(name.find('/', begin), name.size());
        const std::string_view part = name.substr(begin, end - begin);
        if (part.empty() || part == "." || part == "..")
            return false;
        begin = end + 1;
    }
    return true;
}

[[noreturn]] void fail_name(const std::string& what, const std::string& name) {
    fail_input(
        tr("listing.name_leaves_folder",
           "{} names the file \"{}\", which is outside the model's folder; the model is not downloaded", what,
           name));
}

ListedFile read_file_entry(const json& entry, const std::string& what) {
    if (!entry.is_object() || !entry.contains("rfilename") || !entry["rfilename"].is_string())
        fail_input(tr("listing.entry_without_name", "{} has a file without a name; check HF_ENDPOINT", what));
    ListedFile file{entry["rfilename"].get<std::string>()};
    if (!stays_in_folder(file.name))
        fail_name(what, file.name);
    const auto text = [](const json& object, const char* key) {
        const auto found = object.find(key);
        return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    const auto size = entry.find("size");
    const bool has_size = size != entry.end() && size->is_number_unsigned();
    const auto lfs = entry.find("lfs");
    const std::string hash =
        lfs != entry.end() && lfs->is_object() ? text(*lfs, "sha256") : text(entry, "blobId");
    if (has_size && is_hash(hash)) {
        file.size = size->get<std::uint64_t>();
        file.hash = hash;
    }
    return file;
}

/// The names of the parts in an index, each once.
std::set<std::string> parts_of(const std::string& content, const std::string& what) {
    const json index = parse_json(content, what);
    const auto map = index.is_object() ? index.find("weight_map") : index.end();
    std::set<std::string> parts;
    if (index.is_object() && map != index.end() && map->is_object())
        for (const auto& [tensor, file] : map->items())
            if (file.is_string())
                parts.insert(file.get<std::string>());
    if (parts.empty())
        fail_input(tr("listing.index_without_parts", "{} has no weight_map, so it lists no weights", what));
    return parts;
}

/// The files of the first kind of weights that the model has; none if it has no weights of a known name.
std::vector<ListedFile> weights_of(const std::string& model, const std::vector<ListedFile>& files,
                                   const std::function<std::string(const ListedFile&)>& read_index) {
    for (const Weights& kind : kinds) {
        // A single file is preferred: an index beside it was sometimes left from an earlier upload.
        if (const ListedFile* const whole = find_file(files, kind.whole))
            return {*whole};
        const ListedFile* const index = kind.index == nullptr ? nullptr : find_file(files, kind.index);
        if (index == nullptr)
            continue;
        const std::string what = model + "/" + index->name;
        std::vector<ListedFile> found{*index};
        for (const std::string& part : parts_of(read_index(*index), what)) {
            if (!stays_in_folder(part))
                fail_name(what, part);
            const ListedFile* const file = find_file(files, part);
            if (file == nullptr)
                fail_input(
                    tr("listing.part_missing",
                       "{} names the file {}, which the model does not have; its upload may be incomplete",
                       what, part));
            found.push_back(*file);
        }
        return found;
    }
    return {};
}

/// A single safetensors file of another name at the top of the model.
std::optional<ListedFile> only_safetensors(const std::vector<ListedFile>& files) {
    std::optional<ListedFile> found;
    for (const ListedFile& file : files)
        if (file.name.ends_with(".safetensors") && file.name.find('/') == std::string::npos) {
            if (found)
                return std::nullopt;
            found = file;
        }
    return found;
}

/// The endings of files with weights in formats that are not downloaded.
std::vector<std::string> other_formats(const std::vector<ListedFile>& files) {
    struct Format {
        std::string_view ending, name;
    };
    constexpr std::array formats{Format{".gguf", "GGUF"},
                                 Format{".onnx", "ONNX"},
                                 Format{".h5", "TensorFlow"},
                                 Format{".msgpack", "Flax"},
                                 Format{".safetensors", "safetensors"},
                                 Format{".bin", "PyTorch"}};
    std::vector<std::string> found;
    for (const Format& format : formats)
        if (std::ranges::any_of(files,
                                [&](const ListedFile& file) { return file.name.ends_with(format.ending); }))
            found.emplace_back(format.name);
    return found;
}

} // namespace

bool is_hash(std::string_view text) {
    return (text.size() == 40 || text.size() == 64) &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Listing parse_listing(std::string_view text, const std::string& what) {
    const json answer = parse_json(text, what);
    const auto is_text = [&](const char* key) { return answer.contains(key) && answer[key].is_string(); };
    if (!answer.is_object() || !is_text("sha") || !answer.contains("siblings") ||
        !answer["siblings"].is_array())
        fail_input(
            tr("listing.not_list", "{} is not a list of the files of a model; check HF_ENDPOINT", what));
    Listing listing{answer["sha"].get<std::string>(), {}};
    if (!is_commit(listing.commit))
        fail_input(tr("listing.commit_invalid",
                      "{} names the commit \"{}\", which is not one; check HF_ENDPOINT", what,
                      listing.commit));
    for (const json& entry : answer["siblings"])
        listing.files.push_back(read_file_entry(entry, what));
    return listing;
}

std::vector<ListedFile> files_to_get(const std::string& model, const std::vector<ListedFile>& files,
                                     const std::function<std::string(const ListedFile&)>& read_index) {
    std::vector<ListedFile> wanted;
    for (const char* const name : descriptions)
        if (const ListedFile* const file = find_file(files, name))
            wanted.push_back(*file);
    const bool described = std::ranges::any_of(wanted, [](const ListedFile& file) {
        return file.name == "config.json" || file.name == "params.json" || file.name == "adapter_config.json";
    });
    if (!described) {
        const std::vector<std::string> formats = other_formats(files);
        fail_input(
            formats.empty()
                ? tr("listing.no_config", "{} has no config.json and no weights; name another model", model)
                : tr("listing.only_other_formats",
                     "{} has no config.json but only files of other formats ({}); name the model that they "
                     "were made from, or download one file and open it by its path",
                     model, joined(formats)));
    }
    std::vector<ListedFile> weights = weights_of(model, files, read_index);
    if (weights.empty())
        if (const auto only = only_safetensors(files))
            weights = {*only};
    if (weights.empty()) {
        const std::vector<std::string> formats = other_formats(files);
        fail_input(
            tr("listing.no_weights",
               "{} has neither model.safetensors nor pytorch_model.bin{}; name a model that has", model,
               formats.empty() ? "" : tr("listing.has_formats", " (its formats: {})", joined(formats))));
    }
    wanted.insert(wanted.end(), weights.begin(), weights.end());
    return wanted;
}

} // namespace headscope::hub
