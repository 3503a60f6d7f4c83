#include "core/checkpoint/model/patch_file.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/message.h"
#include "core/checkpoint/model/edited_table.h"
#include "core/checkpoint/model/patch_identity.h"
#include "core/checkpoint/model/stacks.h"
#include "core/format/safetensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

namespace headscope::checkpoint {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;
namespace fs = std::filesystem;

std::string weight_name(TensorId weight) {
    return std::string(tensor_info(weight).name);
}

std::string tensor_place(std::int64_t l, TensorId weight) {
    return "layers." + std::to_string(l) + "." + weight_name(weight);
}

/// Positions whose bits differ.
std::vector<std::int64_t> changed_places(const Tensor& before, const Tensor& after) {
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < after.count(); ++i)
        if (std::bit_cast<std::uint32_t>(before.data()[i]) != std::bit_cast<std::uint32_t>(after.data()[i]))
            places.push_back(i);
    return places;
}

void add_tensor(format::SafetensorsWriter& writer, const std::string& name, const Tensor& before,
                const TensorPtr& after) {
    const std::vector<std::int64_t> places = changed_places(before, *after);
    constexpr std::size_t bytes_of_one = sizeof(std::int64_t) + sizeof(float);
    if (places.size() * bytes_of_one >= static_cast<std::size_t>(after->count()) * sizeof(float))
        return writer.add(name, after);
    const Shape shape{static_cast<std::int64_t>(places.size())};
    auto numbers = std::make_shared<Tensor>(shape);
    std::ranges::transform(places, numbers->data(), [&](std::int64_t at) { return after->data()[at]; });
    writer.add_integers(name + ".at", shape, places);
    writer.add(name + ".to", std::move(numbers));
}

/// Of a table only the changed rows are looked at. Returns the SHA-256 of what the checkpoint has in them;
/// nothing where no number differs, and then nothing is written.
std::string add_rows(format::SafetensorsWriter& writer, const std::string& name, const EditedTable& table) {
    std::vector<std::int64_t> places;
    std::vector<float> numbers, own;
    for (const auto& [row, edited] : table.changed()) {
        const std::span<const float> before = table.own_row(row), after = edited->values();
        const std::size_t known = places.size();
        for (std::size_t d = 0; d < after.size(); ++d)
            if (std::bit_cast<std::uint32_t>(before[d]) != std::bit_cast<std::uint32_t>(after[d])) {
                places.push_back(row * std::ssize(after) + static_cast<std::int64_t>(d));
                numbers.push_back(after[d]);
            }
        if (places.size() > known)
            own.insert(own.end(), before.begin(), before.end());
    }
    if (places.empty())
        return {};
    const Shape shape{std::ssize(places)};
    writer.add_integers(name + ".at", shape, places);
    writer.add(name + ".to", std::make_shared<const Tensor>(shape, numbers));
    return digest_of(Tensor(Shape{std::ssize(own)}, own));
}

/// Throws Error(input) unless places grow from one to the next and are less than `count`.
void check_places(const std::vector<std::int64_t>& places, std::int64_t numbers, std::int64_t count,
                  const std::string& name, const std::string& source) {
    if (numbers != std::ssize(places))
        fail_input(tr("patch_file.places_numbers_save_patch",
                      "{}: {} has {} positions and {} numbers; save the patch again", source, name,
                      places.size(), numbers));
    for (std::size_t i = 0; i < places.size(); ++i)
        if (places[i] <= (i == 0 ? -1 : places[i - 1]) || places[i] >= count)
            fail_input(tr(
                "patch_file.place_should_grow_one",
                "{}: position {} of {} should be above the previous one and below {}; save the patch again",
                source, places[i], name, count));
}

/// The rows that `name` of the patch makes of the checkpoint's own table, which is given without edits.
TableRows read_rows(const format::Safetensors& file, const std::string& name, const EditedTable& table) {
    const std::vector<std::int64_t> places = file.integers(name + ".at");
    const TensorPtr numbers = file.tensor(name + ".to");
    check_places(places, numbers->count(), table.own().count(), name, file.source());
    const auto in_row = std::ssize(table.own_row(0));
    std::map<std::int64_t, std::shared_ptr<Tensor>> rows;
    for (std::size_t i = 0; i < places.size(); ++i) {
        auto& row = rows[places[i] / in_row];
        if (row == nullptr)
            row = std::make_shared<Tensor>(row_shape(table.own().shape()), table.own_row(places[i] / in_row));
        row->data()[places[i] % in_row] = numbers->data()[i];
    }
    return {rows.begin(), rows.end()};
}

/// The tensor that `name` of the patch makes of the checkpoint's own. Counts what it takes from the file.
TensorPtr read_tensor(const format::Safetensors& file, const std::string& name, const Tensor& before,
                      std::size_t& taken) {
    if (file.has(name)) {
        ++taken;
        TensorPtr whole = file.tensor(name);
        if (whole->shape() != before.shape())
            fail_input(tr("patch_file.tensor_shape_checkpoints_save",
                          "{}: tensor {} has shape {}; the checkpoint's has {}, save the patch again",
                          file.source(), name, whole->shape().text(), before.shape().text()));
        return whole;
    }
    taken += 2;
    const std::vector<std::int64_t> places = file.integers(name + ".at");
    const TensorPtr numbers = file.tensor(name + ".to");
    auto after = std::make_shared<Tensor>(before.shape(), before.values());
    check_places(places, numbers->count(), before.count(), name, file.source());
    for (std::size_t i = 0; i < places.size(); ++i)
        after->data()[places[i]] = numbers->data()[i];
    return after;
}

void read_tensors(const Model& model, const format::Safetensors& file, std::int64_t l,
                  const PatchLayer& listed, LayerEdits& edits, std::size_t& taken) {
    const WeightSet weights = listed.originals.empty() ? WeightSet() : editable_weights(model, l);
    const auto refuse = [&](const std::string& name) {
        fail_input(tr(
            "patch_file.made_other_numbers_open",
            "{} was made for different numbers in {} than {} has; open the checkpoint that it was made for",
            file.source(), name, model.path()));
    };
    for (const auto& [weight, digest] : listed.originals) {
        const std::string name = tensor_place(l, weight);
        const auto lacks = [&] {
            fail_input(tr("patch_file.changes_not_open_checkpoint",
                          "{} changes {}, which {} does not have; open the checkpoint that it was made for",
                          file.source(), name, model.path()));
        };
        if (is_table(weight)) {
            const EditedTable table(stack_at(model, l), {}, weight, l);
            if (!table.exists())
                lacks();
            edits.rows[weight] = read_rows(file, name, table);
            taken += 2;
            std::vector<float> own;
            for (const auto& [row, edited] : edits.rows[weight])
                own.insert(own.end(), table.own_row(row).begin(), table.own_row(row).end());
            if (digest_of(Tensor(Shape{std::ssize(own)}, own)) != digest)
                refuse(name);
            if (own.empty())
                edits.rows.erase(weight);
            continue;
        }
        const TensorPtr before = weights[weight];
        if (before == nullptr)
            lacks();
        if (digest_of(*before) != digest)
            refuse(name);
        edits.tensors[weight] = read_tensor(file, name, *before, taken);
    }
}

} // namespace

void refuse_checkpoint_folder(const Model& model, const std::string& path) {
    std::error_code ignored;
    const fs::path folder = fs::absolute(path, ignored).parent_path();
    if (path != "-" && fs::is_directory(model.folder(), ignored) &&
        fs::equivalent(folder, model.folder(), ignored))
        fail_input(tr("patch_file.lies_folder_checkpoint",
                      "{} is in the folder of the checkpoint, where nothing is written; save the file in "
                      "another folder",
                      path));
}

std::string patch_bytes(const Model& model, const ModelEdits& edits, const std::string& questions) {
    std::map<std::string, std::string> metadata;
    if (!questions.empty())
        metadata[questions_key] = questions;
    return patch_bytes_with(model, edits, metadata);
}

std::string patch_bytes_with(const Model& model, const ModelEdits& edits,
                             const std::map<std::string, std::string>& metadata) {
    check_edits(model, edits);
    format::SafetensorsWriter writer;
    ordered_json layers = ordered_json::array();
    for (const auto& [l, layer] : edits) {
        if (layer.tensors.empty() && layer.gains.empty() && layer.rows.empty())
            continue;
        ordered_json listed = {{"layer", l}};
        if (!layer.gains.empty())
            listed["gains"] = layer.gains;
        const WeightSet weights = layer.tensors.empty() ? WeightSet() : editable_weights(model, l);
        ordered_json originals = ordered_json::object();
        for (const auto& [weight, tensor] : layer.tensors) {
            const Tensor& before = *weights[weight];
            originals[weight_name(weight)] = digest_of(before);
            add_tensor(writer, tensor_place(l, weight), before, tensor);
        }
        for (const auto& [table, rows] : layer.rows)
            if (const std::string digest = add_rows(writer, tensor_place(l, table),
                                                    EditedTable(stack_at(model, l), edits, table, l));
                !digest.empty())
                originals[weight_name(table)] = digest;
        listed["original_sha256"] = originals;
        layers.push_back(listed);
    }
    for (const auto& [key, text] : metadata)
        writer.set_metadata(key, text);
    writer.set_metadata(patch_key, patch_text(identity_of(model), layers));
    return writer.bytes();
}

void save_patch(const Model& model, const ModelEdits& edits, const std::string& path,
                const std::string& questions) {
    refuse_checkpoint_folder(model, path);
    write_file_atomically(path, patch_bytes(model, edits, questions));
}

ModelEdits read_patch(const Model& model, const format::Safetensors& file) {
    const PatchHeader header = read_patch_header(file);
    check_identity(header.made_for, model, file.source());
    ModelEdits edits;
    std::size_t taken = 0;
    for (const auto& [l, listed] : header.layers) {
        const std::int64_t count = attention_count(model.config());
        if (l >= count)
            fail_input(tr("common.changes_layer_layers_0", "{} changes layer {}; {} has layers 0 to {}",
                          file.source(), l, model.path(), count - 1));
        LayerEdits& layer = edits[l];
        layer.gains = listed.gains;
        read_tensors(model, file, l, listed, layer, taken);
    }
    if (taken != file.entries().size())
        fail_input(tr("patch_file.tensors_list_changes_not",
                      "{} has tensors that its list of changes does not name; save it again", file.source()));
    try {
        check_edits(model, edits);
    } catch (const Error& fault) {
        fail_input(file.source() + ": " + fault.what());
    }
    return edits;
}

ModelEdits load_patch(const Model& model, const std::string& path) {
    return read_patch(model, format::Safetensors::open(path));
}

std::string patch_questions(const std::string& path) {
    const format::Safetensors file = format::Safetensors::open(path);
    const auto found = file.metadata().find(questions_key);
    return found == file.metadata().end() ? std::string() : found->second;
}

} // namespace headscope::checkpoint
