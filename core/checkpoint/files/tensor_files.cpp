#include "core/checkpoint/files/tensor_files.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/joined.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/checkpoint/files/other_files.h"
#include "core/checkpoint/files/toy_model.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

namespace headscope::checkpoint {

namespace fs = std::filesystem;

namespace {

constexpr const char *whole_name = "model.safetensors", *index_name = "model.safetensors.index.json";
constexpr const char *torch_name = "pytorch_model.bin", *torch_index_name = "pytorch_model.bin.index.json";
constexpr std::string_view index_ending = ".index.json", safetensors_ending = ".safetensors";

/// Names of files that trainers write next to the weights, or without them.
bool is_training_state(const std::string& name) {
    return name.starts_with("adapter_model") || name.starts_with("training_args") ||
           name.starts_with("optimizer") || name.starts_with("scheduler") || name.starts_with("scaler") ||
           name.starts_with("rng_state");
}

/// The names of PyTorch files in a folder that may have weights, ordered.
std::set<std::string> torch_files_in(const std::string& folder) {
    std::set<std::string> found;
    std::error_code fault;
    for (fs::directory_iterator entry(folder, fault), end; !fault && entry != end; entry.increment(fault)) {
        const std::string name = entry->path().filename().string();
        if (std::error_code ignored;
            format::has_torch_ending(name) && !is_training_state(name) && entry->is_regular_file(ignored))
            found.insert(name);
    }
    return found;
}

bool has_file(const std::string& folder, const char* name) {
    std::error_code ignored;
    return fs::is_regular_file(fs::path(folder) / name, ignored);
}

/// Returns true if both names stand for the same numbers of one PyTorch file, as those of tied weights do.
bool share_numbers(const TensorFiles::File& file, std::string_view name, std::string_view other) {
    const auto* const torch = std::get_if<std::shared_ptr<const format::TorchFile>>(&file);
    if (torch == nullptr)
        return false;
    const format::TorchEntry &one = *(*torch)->find(name), &two = *(*torch)->find(other);
    return one.begin == two.begin && one.type == two.type && one.strides == two.strides;
}

/// Returns true if read_part() can read the tensor.
bool has_parts(const TensorFiles::File& file, std::string_view name) {
    if (const auto* const torch = std::get_if<std::shared_ptr<const format::TorchFile>>(&file))
        return (*torch)->find(name)->contiguous;
    return std::holds_alternative<std::shared_ptr<const format::Safetensors>>(file);
}

void read_part(const TensorFiles::File& file, std::string_view name, std::uint64_t first,
               std::span<float> to) {
    if (const auto* const torch = std::get_if<std::shared_ptr<const format::TorchFile>>(&file))
        (*torch)->read_numbers(name, first, to);
    else
        std::get<std::shared_ptr<const format::Safetensors>>(file)->read_numbers(name, first, to);
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
    if (format::has_torch_ending(path) || format::is_torch_file(path))
        add_opened(std::make_shared<const format::TorchFile>(format::TorchFile::open_lazily(path)));
    else
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

bool TensorFiles::safetensors_are_in(const std::string& folder) {
    return has_file(folder, whole_name) || has_file(folder, index_name);
}

bool TensorFiles::are_in(const std::string& folder) {
    return safetensors_are_in(folder) || has_file(folder, torch_index_name) ||
           !torch_files_in(folder).empty();
}

void TensorFiles::add_folder(const std::string& folder) {
    std::error_code ignored;
    for (const char* name : {whole_name, index_name, torch_name, torch_index_name}) {
        const std::string path = folder + "/" + name;
        if (fs::exists(path, ignored))
            return path.ends_with(index_ending) ? read_index(folder, path) : add(path);
    }
    const std::set<std::string> others = torch_files_in(folder);
    if (others.size() > 1) {
        constexpr std::ptrdiff_t most = 5;
        const std::vector<std::string> named(others.begin(),
                                             std::next(others.begin(), std::min(most, std::ssize(others))));
        fail_input(
            tr("tensor_files.several_pytorch_files",
               "{} has several PyTorch files ({}), so the one with the weights is not known; name that "
               "file",
               folder, joined(named) + (std::ssize(others) > most ? ", ..." : "")));
    }
    if (others.empty())
        fail_input(other_path_sentence(folder));
    add(folder + "/" + *others.begin());
}

TensorFiles TensorFiles::open(const std::string& path) {
    std::error_code ignored;
    TensorFiles files;
    files.path_ = path;
    if (fs::is_directory(path, ignored)) {
        files.add_folder(path);
        return files;
    }
    if (!fs::is_regular_file(path, ignored))
        fail_input(other_path_sentence(path));
    if (path.ends_with(index_ending))
        files.read_index(settings_folder(path), path);
    else if (is_weights_file(path) || path.ends_with(safetensors_ending))
        files.add(path);
    else if (!is_gguf(path))
        fail_input(other_path_sentence(path));
    else
        files.add_opened(
            std::make_shared<const GgufFile>(GgufFile::open_lazily(path, VocabularyLists::checked)));
    return files;
}

TensorFiles TensorFiles::of(std::shared_ptr<const format::Safetensors> file) {
    TensorFiles files;
    files.path_ = file->source();
    files.add_opened(std::move(file));
    return files;
}

TensorFiles TensorFiles::open_file(const std::string& path) {
    TensorFiles files;
    files.path_ = path;
    if (is_gguf(path))
        files.add_opened(
            std::make_shared<const GgufFile>(GgufFile::open_lazily(path, VocabularyLists::checked)));
    else
        files.add(path);
    return files;
}

void TensorFiles::change(const std::string& name, Change change) {
    const auto found = places_.find(name);
    if (found == places_.end())
        fail_missing(name);
    found->second.changes.push_back(std::move(change));
}

void TensorFiles::fail_missing(std::string_view name) const {
    fail_input(tr("tensor_files.no_tensor_get_checkpoint", "{} has no tensor {}; get the checkpoint again",
                  path_, name));
}

const std::string& TensorFiles::source_of(const Place& place) const {
    if (place.file == no_file)
        return path_;
    return std::visit([](const auto& opened) -> const std::string& { return opened->source(); },
                      files_[place.file]);
}

void TensorFiles::rename(const std::function<std::string(const std::string& name)>& name_of) {
    std::map<std::string, Place, std::less<>> renamed;
    for (auto& [name, place] : places_) {
        std::string now = name_of(name);
        if (now != name) {
            auto entry = std::make_shared<format::TensorEntry>(*place.entry);
            entry->name = now;
            if (place.stored_name.empty())
                place.stored_name = name;
            place.entry = entry.get();
            place.own = std::move(entry);
        }
        if (!renamed.emplace(now, std::move(place)).second)
            fail_input(tr("tensor_files.two_names",
                          "{} has the tensor {} twice, under two names; save the model again", path_, now));
    }
    places_ = std::move(renamed);
}

void TensorFiles::add_made(format::TensorEntry entry, std::function<TensorPtr()> make) {
    auto own = std::make_shared<const format::TensorEntry>(std::move(entry));
    Place place{.file = no_file, .entry = own.get()};
    place.own = own;
    place.changes.push_back([make = std::move(make)](const TensorPtr&) { return make(); });
    if (!places_.emplace(own->name, std::move(place)).second)
        fail_input(tr("tensor_files.two_names",
                      "{} has the tensor {} twice, under two names; save the model again", path_, own->name));
}

TensorFiles TensorFiles::without_tensors(const TensorFiles& source) {
    TensorFiles files;
    files.path_ = source.path_;
    files.files_ = source.files_;
    return files;
}

void TensorFiles::add_sources(const TensorFiles& other) {
    files_.insert(files_.end(), other.files_.begin(), other.files_.end());
}

bool is_weights_file(const std::string& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) &&
           (path.ends_with(index_ending) ||
            (!is_gguf(path) && (format::has_torch_ending(path) || format::is_torch_file(path))));
}

std::string settings_folder(const std::string& path) {
    std::error_code ignored;
    const bool of_weights = is_weights_file(path) ||
                            (path.ends_with(safetensors_ending) && fs::is_regular_file(path, ignored)) ||
                            is_toy_model(path);
    if (!of_weights)
        return path;
    const fs::path folder = fs::path(path).parent_path();
    return folder.empty() ? "." : folder.string();
}

std::string read_config(const std::string& path) {
    const std::string folder = settings_folder(path), config = folder + "/config.json";
    std::error_code ignored;
    if (!fs::exists(config, ignored) && fs::is_directory(path, ignored))
        fail_input(other_path_sentence(path));
    if (!fs::exists(config, ignored))
        fail_input(
            tr("tensor_files.config_json_missing",
               "{} contains weights, but the config.json that describes their model is missing: put it "
               "into the folder {}",
               path, folder));
    return read_file(config);
}

const GgufFile* TensorFiles::gguf() const {
    if (files_.empty())
        return nullptr;
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

const TensorFiles::Place& TensorFiles::place_of(std::string_view name) const {
    const auto found = places_.find(name);
    if (found == places_.end())
        fail_missing(name);
    return found->second;
}

bool TensorFiles::same_numbers(std::string_view name, std::string_view other) const {
    const Place &one = place_of(name), &two = place_of(other);
    if (one.entry->extents != two.entry->extents)
        return false;
    std::uint64_t count = 1;
    for (const std::int64_t extent : one.entry->extents)
        count *= static_cast<std::uint64_t>(extent);
    if (!is_as_stored(one) || !is_as_stored(two))
        return std::ranges::equal(tensor(name)->values(), tensor(other)->values());
    const File &from = files_[one.file], &beside = files_[two.file];
    if (one.file == two.file && share_numbers(from, name, other))
        return true;
    if (!has_parts(from, name) || !has_parts(beside, other))
        return std::ranges::equal(tensor(name)->values(), tensor(other)->values());
    constexpr std::uint64_t piece = std::uint64_t{1} << 18U;
    std::vector<float> a(std::min(piece, count)), b(a.size());
    for (std::uint64_t first = 0; first < count; first += piece) {
        const std::size_t size = std::min(piece, count - first);
        read_part(from, name, first, std::span(a).first(size));
        read_part(beside, other, first, std::span(b).first(size));
        if (!std::ranges::equal(std::span(a).first(size), std::span(b).first(size)))
            return false;
    }
    return true;
}

bool TensorFiles::are_safetensors() const {
    return std::ranges::all_of(files_, [](const File& file) {
        return std::holds_alternative<std::shared_ptr<const format::Safetensors>>(file);
    });
}

void TensorFiles::join(std::vector<JoinedTensor> tensors) {
    for (JoinedTensor& tensor : tensors) {
        const auto joined = std::make_shared<const JoinedTensor>(std::move(tensor));
        const std::size_t file = place_of(joined->parts.front()).file;
        for (const std::string& part : joined->parts)
            if (auto place = places_.extract(part))
                parts_.insert(std::move(place));
        places_.insert_or_assign(joined->entry.name,
                                 Place{.file = file, .entry = &joined->entry, .joined = joined});
    }
}

bool TensorFiles::is_joined(std::string_view name) const {
    const auto found = places_.find(name);
    return found != places_.end() && found->second.joined != nullptr;
}

const TensorFiles::Place& TensorFiles::place_of_part(std::string_view name) const {
    const auto found = parts_.find(name);
    return found == parts_.end() ? place_of(name) : found->second;
}

const format::TensorEntry* TensorFiles::part(std::string_view name) const {
    const auto found = parts_.find(name);
    return found == parts_.end() ? find(name) : found->second.entry;
}

TensorPtr TensorFiles::part_numbers(std::string_view name) const {
    return stored_numbers(name, place_of_part(name));
}

std::string TensorFiles::part_bytes(std::string_view name) const {
    const Place& place = place_of_part(name);
    return std::get<std::shared_ptr<const format::Safetensors>>(files_[place.file])
        ->stored_bytes(place.name_in_file(name));
}

std::vector<std::int64_t> TensorFiles::part_integers(std::string_view name) const {
    const Place& place = place_of_part(name);
    return std::get<std::shared_ptr<const format::Safetensors>>(files_[place.file])
        ->integers(place.name_in_file(name));
}

TensorPtr TensorFiles::stored_numbers(std::string_view name, const Place& place) const {
    return std::visit([&](const auto& opened) { return opened->tensor(place.name_in_file(name)); },
                      files_[place.file]);
}

TensorPtr TensorFiles::tensor(std::string_view name) const {
    const Place& place = place_of(name);
    TensorPtr tensor;
    if (place.joined != nullptr) {
        const auto joined = std::make_shared<Tensor>(format::shape_of(*place.entry, path_));
        place.joined->read(*this, joined->values());
        tensor = joined;
    } else if (place.file != no_file) {
        tensor = stored_numbers(name, place);
    }
    for (const Change& change : place.changes)
        tensor = change(tensor);
    if (tensor->all_finite())
        return tensor;
    const auto values = tensor->values();
    const auto bad = std::ranges::find_if(values, [](float v) { return !std::isfinite(v); });
    const std::string& source = source_of(place);
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
