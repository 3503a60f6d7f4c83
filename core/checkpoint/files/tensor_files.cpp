#include "core/checkpoint/files/tensor_files.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"

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
        fail_input(folder + " holds " + *pickles.begin() +
                   ", a PyTorch pickle, which can run code and is not read here; convert it in Python: "
                   "transformers.AutoModel.from_pretrained(path).save_pretrained(path, "
                   "safe_serialization=True), with the class that config.json names under architectures");
    fail_input(folder + " holds neither " + whole_name + " nor " + index_name +
               "; name the folder of a Hugging Face checkpoint");
}

} // namespace

void TensorFiles::add(const std::string& path) {
    const auto file = std::make_shared<const format::Safetensors>(format::Safetensors::open_lazily(path));
    for (const format::SafetensorsEntry& entry : file->entries())
        if (!places_.emplace(entry.name, Place{files_.size(), &entry}).second)
            fail_input(path + ": tensor " + entry.name +
                       " is in another file of the checkpoint too; keep one");
    files_.push_back(file);
}

void TensorFiles::read_index(const std::string& folder, const std::string& index) {
    const nlohmann::json parsed = parse_json(read_file(index), index);
    const auto map = parsed.is_object() ? parsed.find("weight_map") : parsed.end();
    if (!parsed.is_object() || map == parsed.end() || !map->is_object() || map->empty())
        fail_input(index + " has no weight_map that gives each tensor its file; get it again");
    std::map<std::string, std::string> file_of;
    std::set<std::string> names;
    for (const auto& [tensor, file] : map->items()) {
        const std::string name = file.is_string() ? file.get<std::string>() : "";
        // A name of another folder would read what the user did not name.
        if (name.empty() || name == "." || name == ".." || fs::path(name).filename() != name)
            fail_input(index + ": the file of " + tensor +
                       " should be the name of a file in the same folder; get the index again");
        file_of[tensor] = name;
        names.insert(name);
    }
    for (const std::string& name : names)
        add(folder + "/" + name);
    for (const auto& [tensor, file] : file_of)
        if (!places_.contains(tensor))
            fail_input(folder + "/" + file + " has no tensor " + tensor + ", which " + index +
                       " says it has; get both again");
}

bool TensorFiles::are_in(const std::string& folder) {
    std::error_code ignored;
    return std::ranges::any_of(std::array{whole_name, index_name}, [&](const char* name) {
        return fs::is_regular_file(fs::path(folder) / name, ignored);
    });
}

TensorFiles TensorFiles::open(const std::string& folder) {
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored))
        fail_input(folder + " is no folder; name the folder that holds config.json and " + whole_name);
    TensorFiles files;
    files.folder_ = folder;
    const std::string whole = folder + "/" + whole_name, index = folder + "/" + index_name;
    if (fs::exists(whole, ignored))
        files.add(whole);
    else if (fs::exists(index, ignored))
        files.read_index(folder, index);
    else
        fail_without_tensors(folder);
    return files;
}

std::vector<const format::SafetensorsEntry*> TensorFiles::entries() const {
    std::vector<const format::SafetensorsEntry*> all;
    all.reserve(places_.size());
    for (const auto& [name, place] : places_)
        all.push_back(place.entry);
    return all;
}

const format::SafetensorsEntry* TensorFiles::find(std::string_view name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? nullptr : found->second.entry;
}

TensorPtr TensorFiles::tensor(std::string_view name) const {
    const auto found = places_.find(name);
    if (found == places_.end())
        fail_input(folder_ + " has no tensor " + std::string(name) + "; get the checkpoint again");
    const format::Safetensors& file = *files_[found->second.file];
    TensorPtr tensor = file.tensor(name);
    if (tensor->all_finite())
        return tensor;
    const auto values = tensor->values();
    const auto bad = std::ranges::find_if(values, [](float v) { return !std::isfinite(v); });
    fail_input(file.source() + ": number " + std::to_string(bad - values.begin()) + " of tensor " +
               std::string(name) + " is " + (std::isnan(*bad) ? "NaN" : "infinite") +
               "; every weight should be finite, get the checkpoint again");
}

} // namespace headscope::checkpoint
