#include "core/checkpoint/model/model.h"

#include "core/base/error.h"
#include "core/base/file.h"

#include <Eigen/Core>
#include <algorithm>
#include <set>

namespace headscope::checkpoint {

namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstView = Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>;
using View = Eigen::Map<Matrix>;

/// What the tensor of old is called in this file: gains gamma and shifts beta.
std::string name_in(const TensorFiles& files, const std::string& name) {
    for (const auto& [now, once] : {std::pair("weight", "gamma"), std::pair("bias", "beta")})
        if (name.ends_with(now) && files.find(name) == nullptr) {
            const std::string old = name.substr(0, name.size() - std::string_view(now).size()) + once;
            if (files.find(old) != nullptr)
                return old;
        }
    return name;
}

std::string shape_text(std::vector<std::int64_t> extents) {
    format::SafetensorsEntry entry;
    entry.extents = std::move(extents);
    return entry.shape_text();
}

TensorPtr transposed(const Tensor& tensor) {
    const std::int64_t rows = tensor.shape()[0], cols = tensor.shape()[1];
    auto out = std::make_shared<Tensor>(Shape{cols, rows});
    const ConstView from(tensor.data(), rows, cols, Eigen::OuterStride<>(cols));
    View to(out->data(), cols, rows);
    constexpr std::int64_t tile = 32; // both sides of one stay in the L1 cache
    for (std::int64_t row = 0; row < rows; row += tile)
        for (std::int64_t col = 0; col < cols; col += tile) {
            const std::int64_t height = std::min(tile, rows - row), width = std::min(tile, cols - col);
            to.block(col, row, width, height) = from.block(row, col, height, width).transpose();
        }
    return out;
}

/// Columns [first, first + count) of a matrix, or that part of a vector.
TensorPtr columns(const Tensor& tensor, std::int64_t first, std::int64_t count) {
    const bool vector = tensor.shape().rank() == 1;
    const std::int64_t rows = vector ? 1 : tensor.shape()[0], width = tensor.shape().back(0);
    auto out = std::make_shared<Tensor>(vector ? Shape{count} : Shape{rows, count});
    View(out->data(), rows, count) =
        ConstView(tensor.data() + first, rows, count, Eigen::OuterStride<>(width));
    return out;
}

/// A fused tensor cut into those of Q, K and V.
void cut(WeightSet& set, Slot fused, std::array<Slot, 3> parts, const ModelConfig& config) {
    const TensorPtr whole = set[fused];
    if (whole == nullptr)
        return;
    const std::array<std::int64_t, 3> widths{config.H * config.dk, config.Hkv * config.dk,
                                             config.Hkv * config.dk};
    std::int64_t first = 0;
    for (std::size_t part = 0; part < parts.size(); ++part) {
        set.tensors[static_cast<std::size_t>(parts[part])] = columns(*whole, first, widths[part]);
        first += widths[part];
    }
    set.tensors[static_cast<std::size_t>(fused)] = nullptr;
}

const TensorName* find_row(std::span<const TensorName> rows, Slot slot) {
    const auto row = std::ranges::find(rows, slot, &TensorName::slot);
    return row == rows.end() ? nullptr : &*row;
}

} // namespace

Model Model::open(const std::string& folder, std::size_t kept_bytes) {
    Model model;
    model.folder_ = folder;
    model.files_ = TensorFiles::open(folder);
    const std::string config = folder + "/config.json";
    model.config_ = parse_model_config(read_file(config), config);
    model.match();
    model.plan_kept(kept_bytes);
    return model;
}

void Model::plan_kept(std::size_t kept_bytes) {
    const NameMap& map = name_map(config_.family);
    const auto bytes_of = [&](std::span<const TensorName> rows, bool per_layer) {
        double bytes = 0;
        for (const TensorName& row : rows)
            if (is_per_layer(row.slot) == per_layer && is_needed(row, config_))
                bytes += static_cast<double>(sizeof(float)) *
                         static_cast<double>(extent_of(row.in, config_)) *
                         static_cast<double>(extent_of(row.out, config_));
        return bytes;
    };
    const double around = bytes_of(map.body, false) + bytes_of(map.head, false);
    const double layer = std::max(1.0, bytes_of(map.body, true));
    const double left = static_cast<double>(kept_bytes) - around;
    const auto last =
        static_cast<std::int64_t>(std::clamp(left / layer, 0.0, static_cast<double>(config_.layers)));
    kept_ = std::make_shared<std::vector<KeptWeights>>(static_cast<std::size_t>(config_.layers + 1));
    kept_->front().keep(left >= 0);
    for (std::int64_t l = config_.layers - last; l < config_.layers; ++l)
        (*kept_)[static_cast<std::size_t>(l + 1)].keep(true);
}

void Model::match_rows(std::span<const TensorName> rows, std::string_view prefix,
                       std::vector<std::string>& missing) {
    for (const TensorName& row : rows) {
        if (!is_needed(row, config_))
            continue;
        const std::int64_t times = is_per_layer(row.slot) ? config_.layers : 1;
        const std::vector<std::int64_t> wanted = file_extents(row, config_);
        for (std::int64_t l = 0; l < times; ++l) {
            const std::string name = name_in_files(row, prefix, l);
            const format::SafetensorsEntry* entry = files_.find(name);
            if (entry == nullptr)
                missing.push_back(name);
            else if (entry->extents != wanted)
                report_.wrong_shape.push_back(name + " has shape " + entry->shape_text() +
                                              "; by config.json it should have " + shape_text(wanted));
        }
    }
}

void Model::match() {
    const NameMap& map = name_map(config_.family);
    const auto prefix = std::ranges::find_if(map.prefixes, [&](std::string_view candidate) {
        return std::ranges::any_of(map.body, [&](const TensorName& row) {
            return files_.find(full_name(row, candidate, 0)) != nullptr;
        });
    });
    prefix_ = prefix == map.prefixes.end() ? map.prefixes.front() : *prefix;
    match_rows(map.body, prefix_, report_.missing);
    match_rows(map.head, "", report_.head_missing);

    std::set<std::string> known, spare;
    const auto collect = [&](std::span<const TensorName> rows, std::string_view before) {
        for (const TensorName& row : rows)
            for (std::int64_t l = 0; l < (is_per_layer(row.slot) ? config_.layers : 1); ++l)
                (is_needed(row, config_) ? known : spare).insert(name_in_files(row, before, l));
    };
    collect(map.body, prefix_);
    collect(map.head, "");
    for (const format::SafetensorsEntry* entry : files_.entries()) {
        std::int64_t numbers = 1;
        for (const std::int64_t extent : entry->extents)
            numbers *= extent;
        report_.parameters[entry->dtype] += numbers;
        if (known.contains(entry->name))
            continue;
        // A tied head or a switched-off bias that is stored all the same: the latter is a contradiction.
        const bool tied_copy =
            spare.contains(entry->name) && entry->name == full_name(*find_row(map.head, Slot::head), "", 0);
        const bool useless = std::ranges::any_of(map.not_needed, [&](std::string_view part) {
            return entry->name.find(part) != std::string::npos;
        });
        (tied_copy || useless ? report_.unused : report_.unknown).push_back(entry->name);
    }
}

void Model::require_runnable() const {
    if (!report_.wrong_shape.empty())
        fail_input(folder_ + ": " + report_.wrong_shape.front() + "; get the files that belong together");
    if (!report_.missing.empty())
        fail_input(folder_ + ": the tensor " + report_.missing.front() + " is missing" +
                   (report_.missing.size() > 1
                        ? " and " + std::to_string(report_.missing.size() - 1) + " more"
                        : "") +
                   "; get the checkpoint again, or correct the family in config.json");
}

std::string Model::name_in_files(const TensorName& row, std::string_view prefix, std::int64_t l) const {
    const NameMap& map = name_map(config_.family);
    std::string name = name_in(files_, full_name(row, prefix, l));
    if (files_.find(name) != nullptr)
        return name;
    // Of tensors that share their memory a file may keep only one, under either name.
    const std::string twin = row.slot == Slot::words && config_.tied
                                 ? full_name(*find_row(map.head, Slot::head), "", 0)
                             : row.slot == Slot::head_bias ? std::string(map.head_bias_twin)
                                                           : "";
    return !twin.empty() && files_.find(twin) != nullptr ? twin : name;
}

TensorPtr Model::load(const TensorName& row, std::string_view prefix, std::int64_t l) const {
    TensorPtr tensor = files_.tensor(name_in_files(row, prefix, l));
    return row.layout == Layout::linear ? transposed(*tensor) : tensor;
}

TensorPtr Model::shared(Slot slot) const {
    const NameMap& map = name_map(config_.family);
    const TensorName* const body = find_row(map.body, slot);
    const TensorName* const row = body != nullptr ? body : find_row(map.head, slot);
    if (row == nullptr)
        return nullptr;
    if (!is_needed(*row, config_))
        return body != nullptr ? nullptr : shared(Slot::words);
    return kept_->front().one(slot, [&] { return load(*row, body != nullptr ? prefix_ : "", 0); });
}

WeightSet Model::layer(std::int64_t l) const {
    return (*kept_)[static_cast<std::size_t>(l + 1)].all([&] { return read_layer(l); });
}

WeightSet Model::read_layer(std::int64_t l) const {
    WeightSet set;
    for (const TensorName& row : name_map(config_.family).body)
        if (is_per_layer(row.slot) && is_needed(row, config_))
            set.tensors[static_cast<std::size_t>(row.slot)] = load(row, prefix_, l);
    cut(set, Slot::W_QKV, {Slot::W_Q, Slot::W_K, Slot::W_V}, config_);
    cut(set, Slot::b_QKV, {Slot::b_Q, Slot::b_K, Slot::b_V}, config_);
    return set;
}

} // namespace headscope::checkpoint
