#include "core/checkpoint/files/tensor_files.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

namespace headscope::checkpoint {

namespace fs = std::filesystem;

namespace {

constexpr const char* whole_name = "model.safetensors";
constexpr const char* index_name = "model.safetensors.index.json";

bool is_pickle(const fs::path& path) {
    const std::string suffix = path.extension().string();
    return suffix == ".bin" || suffix == ".pt" || suffix == ".pth" || suffix == ".ckpt";
}

/// What to say of a folder without safetensors.
[[noreturn]] void fail_without_tensors(const std::string& folder) {
    std::error_code ignored;
    std::set<std::string> pickles;
    for (const auto& entry : fs::directory_iterator(folder, ignored))
        if (is_pickle(entry.path()))
            pickles.insert(entry.path().filename().string());
    if (!pickles.empty())
        fail_input(tr("tensor_files.holds_pytorch_pickle_run",
                      "{} holds {}, a PyTorch pickle, which can run code and is not read here; convert it in "
                      "Python: transformers.AutoModel.from_pretrained(path).save_pretrained(path, "
                      "safe_serialization=True), with the class that config.json names under architectures",
                      folder, *pickles.begin()));
    fail_input(tr("tensor_files.holds_neither_nor_name",
                  "{} holds neither {} nor {}; name the folder of a Hugging Face checkpoint", folder,
                  whole_name, index_name));
}

} // namespace

template<class Opened>
void TensorFiles::add_opened(std::shared_ptr<const Opened> file) {
    for (const auto& entry : file->entries())
        if (!places_.emplace(entry.name, Place{files_.size(), &entry}).second)
            fail_input(tr("tensor_files.tensor_another_file",
                          "{}: tensor {} is in another file of the checkpoint too; keep one", file->source(),
                          entry.name));
    files_.push_back(std::move(file));
}

void TensorFiles::add(const std::string& path) {
    add_opened(std::make_shared<const format::Safetensors>(format::Safetensors::open_lazily(path)));
}

void TensorFiles::read_index(const std::string& folder, const std::string& index) {
    const nlohmann::json parsed = parse_json_with_bytes(read_file(index), index);
    const auto map = parsed.is_object() ? parsed.find("weight_map") : parsed.end();
    if (!parsed.is_object() || map == parsed.end() || !map->is_object() || map->empty())
        fail_input(tr("tensor_files.no_weight_map_gives",
                      "{} has no weight_map that gives each tensor its file; get it again", index));
    std::map<std::string, std::string> file_of;
    std::set<std::string> names;
    for (const auto& [tensor, file] : map->items()) {
        const std::string name = file.is_string() ? file.get<std::string>() : "";
        // A name of another folder would read what the user did not name.
        if (name.empty() || name == "." || name == ".." || fs::path(name).filename() != name)
            fail_input(
                tr("tensor_files.file_should_name_file",
                   "{}: the file of {} should be the name of a file in the same folder; get the index again",
                   index, tensor));
        file_of[tensor] = name;
        names.insert(name);
    }
    for (const std::string& name : names)
        add(folder + "/" + name);
    for (const auto& [tensor, file] : file_of)
        if (!places_.contains(tensor))
            fail_input(tr("tensor_files.no_tensor_says_get",
                          "{} has no tensor {}, which {} says it has; get both again", folder + "/" + file,
                          tensor, index));
}

bool TensorFiles::are_in(const std::string& folder) {
    std::error_code ignored;
    return std::ranges::any_of(std::array{whole_name, index_name}, [&](const char* name) {
        return fs::is_regular_file(fs::path(folder) / name, ignored);
    });
}

TensorFiles TensorFiles::open(const std::string& path) {
    std::error_code ignored;
    TensorFiles files;
    files.path_ = path;
    if (fs::is_regular_file(path, ignored)) {
        files.add_opened(
            std::make_shared<const GgufFile>(GgufFile::open_lazily(path, VocabularyLists::checked)));
        return files;
    }
    if (!fs::is_directory(path, ignored))
        fail_input(tr("tensor_files.no_folder_no_file",
                      "{} is neither a folder nor a file; name the folder that holds config.json and {}, or "
                      "a GGUF file",
                      path, whole_name));
    const std::string &folder = path, whole = folder + "/" + whole_name, index = folder + "/" + index_name;
    if (fs::exists(whole, ignored))
        files.add(whole);
    else if (fs::exists(index, ignored))
        files.read_index(folder, index);
    else
        fail_without_tensors(folder);
    return files;
}

const GgufFile* TensorFiles::gguf() const {
    const auto* const file = std::get_if<std::shared_ptr<const GgufFile>>(&files_.front());
    return file == nullptr ? nullptr : file->get();
}

std::vector<const format::TensorEntry*> TensorFiles::entries() const {
    std::vector<const format::TensorEntry*> all;
    all.reserve(places_.size());
    for (const auto& [name, place] : places_)
        all.push_back(place.entry);
    return all;
}

const format::TensorEntry* TensorFiles::find(std::string_view name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? nullptr : found->second.entry;
}

bool TensorFiles::same_numbers(std::string_view name, std::string_view other) const {
    const auto one = places_.find(name), two = places_.find(other);
    if (one == places_.end() || two == places_.end())
        fail_input(tr("tensor_files.no_tensor_get_checkpoint",
                      "{} has no tensor {}; get the checkpoint again", path_,
                      one == places_.end() ? name : other));
    if (one->second.entry->extents != two->second.entry->extents)
        return false;
    using Opened = std::shared_ptr<const format::Safetensors>;
    const Opened* const from = std::get_if<Opened>(&files_[one->second.file]);
    const Opened* const beside = std::get_if<Opened>(&files_[two->second.file]);
    if (from == nullptr || beside == nullptr)
        return std::ranges::equal(tensor(name)->values(), tensor(other)->values());
    std::uint64_t count = 1;
    for (const std::int64_t extent : one->second.entry->extents)
        count *= static_cast<std::uint64_t>(extent);
    constexpr std::uint64_t piece = std::uint64_t{1} << 18U;
    std::vector<float> a(std::min(piece, count)), b(a.size());
    for (std::uint64_t first = 0; first < count; first += piece) {
        const std::size_t size = std::min(piece, count - first);
        (*from)->read_numbers(name, first, std::span(a).first(size));
        (*beside)->read_numbers(other, first, std::span(b).first(size));
        if (!std::ranges::equal(std::span(a).first(size), std::span(b).first(size)))
            return false;
    }
    return true;
}

TensorPtr TensorFiles::tensor(std::string_view name) const {
    const auto found = places_.find(name);
    if (found == places_.end())
        fail_input(tr("tensor_files.no_tensor_get_checkpoint",
                      "{} has no tensor {}; get the checkpoint again", path_, name));
    const File& file = files_[found->second.file];
    TensorPtr tensor = std::visit([&](const auto& opened) { return opened->tensor(name); }, file);
    if (tensor->all_finite())
        return tensor;
    const auto values = tensor->values();
    const auto bad = std::ranges::find_if(values, [](float v) { return !std::isfinite(v); });
    const std::string& source =
        std::visit([](const auto& opened) -> const std::string& { return opened->source(); }, file);
    const std::int64_t at = bad - values.begin();
    fail_input(
        std::isnan(*bad)
            ? tr("tensor_files.number_tensor_nan_every",
                 "{}: number {} of tensor {} is NaN; every weight should be finite, get the checkpoint again",
                 source, at, name)
            : tr("tensor_files.number_tensor_infinite",
                 "{}: number {} of tensor {} is infinite; every weight should be finite, get the checkpoint "
                 "again",
                 source, at, name));
}

} // namespace headscope::checkpoint
