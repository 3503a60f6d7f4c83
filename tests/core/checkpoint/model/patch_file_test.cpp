#include "core/checkpoint/model/patch_file.h"

#include "core/base/file.h"
#include "core/checkpoint/model/edited_table.h"
#include "core/checkpoint/model/patch_identity.h"
#include "core/checkpoint/model/stacks.h"
#include "core/format/safetensors.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A golden model in a folder that a test may change.
std::string copied(const TemporaryFolder& folder, const std::string& name) {
    const std::string place = folder.file(name);
    fs::create_directory(place);
    for (const char* file : {"config.json", "model.safetensors"})
        fs::copy_file(test_data("/models/") + name + "/" + file, place + "/" + file,
                      fs::copy_options::overwrite_existing);
    return place;
}

std::shared_ptr<Tensor> copy_of(const TensorPtr& tensor) {
    return std::make_shared<Tensor>(tensor->shape(), tensor->values());
}

/// Edits a few numbers of W_Q, all of W_O, the sign of a zero, and head gains of two layers.
ModelEdits some_edits(const Model& model) {
    const WeightSet first = model.layer(0), second = model.layer(1);
    const auto W_Q = copy_of(first[TensorId::W_Q]), W_O = copy_of(second[TensorId::W_O]),
               W_K = copy_of(second[TensorId::W_K]);
    W_Q->data()[5] = 1e-42F;
    W_Q->data()[W_Q->count() - 1] = -0.1F;
    W_Q->data()[0] = -0.0F;
    for (float& number : W_O->values())
        number = 0.3F * number + 0.01F;
    W_K->data()[7] += 1;
    ModelEdits edits;
    edits[0].tensors[TensorId::W_Q] = W_Q;
    edits[1].tensors[TensorId::W_O] = W_O;
    edits[1].tensors[TensorId::W_K] = W_K;
    edits[1].gains.assign(static_cast<std::size_t>(model.architecture().H), 1.0F);
    edits[1].gains.back() = 0.1F;
    return edits;
}

/// The same, and around attention few numbers of a norm and of the MLP, and the final norm, as far as the
/// model has them.
ModelEdits more_edits(const Model& model) {
    ModelEdits edits = some_edits(model);
    const std::int64_t last = model.architecture().layers - 1;
    for (const auto& [n, id] : {std::pair{std::int64_t{0}, TensorId::norm1_weight},
                                {std::int64_t{1}, TensorId::W_in},
                                {std::int64_t{1}, TensorId::b_out},
                                {last, TensorId::final_norm_weight}})
        if (const TensorPtr own = editable_weights(model, n)[id]) {
            const auto tensor = copy_of(own);
            tensor->data()[own->count() / 2] += 0.25F;
            edits[n].tensors[id] = tensor;
        }
    const std::int64_t decoder = attention_number(model.architecture(), {Stack::own, 0});
    for (const auto& [n, id] : {std::pair{std::int64_t{0}, TensorId::W_E},
                                {decoder, TensorId::W_P},
                                {std::int64_t{0}, TensorId::W_type},
                                {std::int64_t{1}, TensorId::expert_W_in},
                                {std::int64_t{1}, TensorId::expert_b_out}})
        if (const EditedTable table(stack_at(model, n), {}, id, n); table.exists()) {
            const std::int64_t at = table.rows() - 1;
            auto row = std::make_shared<Tensor>(row_shape(table.own().shape()), table.row(at));
            row->data()[3] -= 0.5F;
            edits[n].rows[id][at] = row;
        }
    return edits;
}

bool same_numbers(const TensorPtr& a, const TensorPtr& b) {
    return a->shape() == b->shape() &&
           std::memcmp(a->data(), b->data(), static_cast<std::size_t>(a->count()) * sizeof(float)) == 0;
}

bool same_edits(const ModelEdits& a, const ModelEdits& b) {
    return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
        return x.first == y.first && x.second.gains == y.second.gains &&
               std::ranges::equal(x.second.tensors, y.second.tensors,
                                  [](const auto& s, const auto& t) {
                                      return s.first == t.first && same_numbers(s.second, t.second);
                                  }) &&
               std::ranges::equal(x.second.rows, y.second.rows, [](const auto& s, const auto& t) {
                   return s.first == t.first &&
                          std::ranges::equal(s.second, t.second, [](const auto& row, const auto& other) {
                              return row.first == other.first && same_numbers(row.second, other.second);
                          });
               });
    });
}

/// The patch with its JSON changed.
std::string changed(const std::string& bytes, const std::function<void(json&)>& change) {
    const format::Safetensors file = format::Safetensors::from_bytes(bytes, "patch");
    format::SafetensorsWriter writer;
    for (const format::SafetensorsEntry& entry : file.entries())
        if (entry.dtype == "I64")
            writer.add_integers(entry.name, {entry.extents[0]}, file.integers(entry.name));
        else
            writer.add(entry.name, file.tensor(entry.name));
    json text = json::parse(file.metadata().at(patch_key));
    change(text);
    writer.set_metadata(patch_key, text.dump());
    return writer.bytes();
}

} // namespace

TEST_CASE("a patch brings the edits of a checkpoint back bit for bit, wherever its folder is") {
    for (const std::string& name : attending_model_names()) {
        INFO(name);
        const TemporaryFolder folder;
        const Model model = Model::open(test_data("/models/") + name);
        const ModelEdits edits = more_edits(model);
        const std::string path = folder.file("edits.patch.safetensors");
        save_patch(model, edits, path);
        CHECK(same_edits(load_patch(model, path), edits));
        CHECK(same_edits(load_patch(Model::open(copied(folder, name)), path), edits));
        CHECK(patch_bytes(model, edits) == read_file(path));
        // Few numbers are few bytes.
        const format::Safetensors file = format::Safetensors::open(path);
        CHECK((file.has("layers.0.W_Q.at") && file.has("layers.0.W_Q.to") && file.has("layers.1.W_O")));
        CHECK(file.integers("layers.1.W_K.at") == std::vector<std::int64_t>{7});
    }
    const Model model = Model::open(test_data("/models/gpt2_tiny"));
    CHECK(read_patch(model, format::Safetensors::from_bytes(patch_bytes(model, {}), "none")).empty());
}

TEST_CASE("edits of a table are few bytes of a patch, and rows that were taken back none") {
    const Model model = Model::open(test_data("/models/gpt2_tiny"));
    const EditedTable table(model, {}, TensorId::W_E);
    const auto row = [&](std::int64_t i, float by) {
        auto numbers = std::make_shared<Tensor>(Shape{32}, table.row(i));
        numbers->data()[2] += by;
        return numbers;
    };
    ModelEdits edits;
    edits[0].rows[TensorId::W_E] = {{3, row(3, 0)}, {5, row(5, 0.25F)}};
    const std::string bytes = patch_bytes(model, edits);
    const format::Safetensors file = format::Safetensors::from_bytes(bytes, "patch");
    CHECK(file.integers("layers.0.W_E.at") == std::vector<std::int64_t>{5 * 32 + 2});
    ModelEdits read = read_patch(model, file);
    REQUIRE(read[0].rows[TensorId::W_E].size() == 1);
    CHECK(same_numbers(read[0].rows[TensorId::W_E].at(5), row(5, 0.25F)));
    CHECK_THAT(input_error([&] {
                   read_patch(model, format::Safetensors::from_bytes(
                                         changed(bytes,
                                                 [](json& text) {
                                                     text["layers"][0]["original_sha256"]["W_E"] =
                                                         std::string(64, '0');
                                                 }),
                                         "patch"));
               }),
               Catch::Contains("different numbers in layers.0.W_E"));
}

TEST_CASE("a patch from before norms and MLP could be edited is read as before") {
    const Model model = Model::open(test_data("/models/gpt2_tiny"));
    const std::string path = test_data("/patches/gpt2_tiny_attention.patch.safetensors");
    const ModelEdits edits = load_patch(model, path);
    REQUIRE(edits.size() == 1);
    const LayerEdits& layer = edits.at(1);
    CHECK(layer.gains == std::vector{1.0F, 0.5F, 1.0F, 0.0F});
    REQUIRE(layer.tensors.size() == 2);
    const WeightSet own = model.layer(1);
    const auto expected = copy_of(own[TensorId::W_Q]);
    expected->data()[33] = 0.75F;
    CHECK(std::ranges::equal(layer.tensors.at(TensorId::W_Q)->values(), expected->values()));
    CHECK(std::ranges::equal(layer.tensors.at(TensorId::b_O)->values(), std::vector<float>(32, 0.125F)));
    CHECK(same_edits(read_patch(model, format::Safetensors::from_bytes(patch_bytes(model, edits), "again")),
                     edits));
}

TEST_CASE("a patch is refused for any other checkpoint, which is told by what differs") {
    const TemporaryFolder folder;
    const std::string place = copied(folder, "gpt2_tiny"), path = folder.file("patch");
    const ModelEdits edits = some_edits(Model::open(place));
    save_patch(Model::open(place), edits, path);
    const auto fault = [&] { return input_error([&] { load_patch(Model::open(place), path); }); };
    CHECK(fault().empty());

    write_file_atomically(place + "/config.json", read_file(place + "/config.json") + " ");
    CHECK_THAT(fault(), Contains("made for the checkpoint gpt2_tiny") && Contains("config.json"));
    copied(folder, "gpt2_tiny");

    // One number of an edited tensor, then of another one.
    const format::Safetensors tensors = format::Safetensors::open(place + "/model.safetensors");
    const auto move_number = [&](const std::string& name) {
        format::SafetensorsWriter writer;
        for (const format::SafetensorsEntry& entry : tensors.entries()) {
            const auto tensor = copy_of(tensors.tensor(entry.name));
            if (entry.name == name)
                tensor->data()[1] += 0.5F;
            writer.add(entry.name, tensor);
        }
        writer.set_metadata("format", "pt");
        write_file_atomically(place + "/model.safetensors", writer.bytes());
    };
    move_number("nothing");
    const std::string rewritten = fault();
    if (!rewritten.empty()) { // the writer's own order of tensors: another header
        CHECK_THAT(rewritten, Contains("model.safetensors"));
        save_patch(Model::open(place), edits, path);
    }
    move_number("transformer.h.0.attn.c_attn.weight");
    CHECK_THAT(fault(), Contains("different numbers in layers.0.W_Q"));
    move_number("transformer.h.0.mlp.c_fc.weight");
    CHECK(fault().empty());
    CHECK_THAT(input_error([&] { load_patch(Model::open(test_data("/models/bert_tiny")), path); }),
               Contains("a different one"));
}

TEST_CASE("nothing is written into a checkpoint's folder") {
    const TemporaryFolder folder;
    const std::string place = copied(folder, "gpt2_tiny");
    const Model model = Model::open(place);
    for (const std::string& path :
         {place + "/model.safetensors", place + "/new.patch", place + "/../gpt2_tiny/x"})
        CHECK_THAT(input_error([&] { save_patch(model, some_edits(model), path); }),
                   Contains("folder of the checkpoint"));
    CHECK(std::distance(fs::directory_iterator(place), fs::directory_iterator()) == 2);
    CHECK(read_file(place + "/model.safetensors") ==
          read_file(test_data("/models/gpt2_tiny/model.safetensors")));
}

TEST_CASE("a damaged patch is refused with the place of its fault") {
    const Model model = Model::open(test_data("/models/gpt2_tiny"));
    const std::string good = patch_bytes(model, some_edits(model));
    const auto fault = [&](const std::string& bytes) {
        return input_error([&] { read_patch(model, format::Safetensors::from_bytes(bytes, "patch")); });
    };
    CHECK(fault(changed(good, [](json&) {})).empty());
    CHECK_THAT(fault(format::SafetensorsWriter().bytes()), Contains("patch is not a patch"));
    const std::vector<std::pair<std::function<void(json&)>, std::string>> faults{
        {[](json& p) { p["version"] = 2; }, "version"},
        {[](json& p) { p.erase("layers"); }, "layers"},
        {[](json& p) { p["checkpoint"]["files"][0]["bytes"] = 5; }, "model.safetensors"},
        {[](json& p) { p["checkpoint"]["files"].push_back(p["checkpoint"]["files"][0]); },
         "number of tensor files"},
        {[](json& p) { p["layers"][0]["layer"] = 2; }, "layer 2"},
        {[](json& p) { p["layers"][0]["layer"] = 1; }, "once"},
        {[](json& p) { p["layers"][0]["layer"] = -1; }, "layer"},
        {[](json& p) {
             p["layers"][1]["gains"] = {1, 2};
         },
         "2 head gains"},
        {[](json& p) {
             p["layers"][1]["gains"] = {1, 1, 1, 1e60};
         },
         "gains[3]"},
        {[](json& p) { p["layers"][1]["gains"] = "all"; }, "gains"},
        {[](json& p) { p["layers"][0]["original_sha256"]["W_Q"] = "00"; }, "different numbers"},
        {[](json& p) { p["layers"][0]["original_sha256"] = json::object(); }, "does not name"},
        {[](json& p) { p["layers"][0]["original_sha256"]["weights"] = "00"; }, "can be changed"},
        {[](json& p) { p["layers"][0]["original_sha256"]["W_K"] = digest_of(Tensor(Shape{1}, 0.0F)); },
         "different numbers in layers.0.W_K"},
    };
    for (const auto& [change, part] : faults) {
        INFO(part);
        CHECK_THAT(fault(changed(good, change)), Contains(part));
    }
    const auto with_places = [&](const std::vector<std::int64_t>& places, std::int64_t numbers, float value) {
        const format::Safetensors file = format::Safetensors::from_bytes(good, "patch");
        format::SafetensorsWriter writer;
        writer.add("layers.1.W_O", file.tensor("layers.1.W_O"));
        writer.add_integers("layers.1.W_K.at", {1}, file.integers("layers.1.W_K.at"));
        writer.add("layers.1.W_K.to", file.tensor("layers.1.W_K.to"));
        writer.add_integers("layers.0.W_Q.at", {static_cast<std::int64_t>(places.size())}, places);
        writer.add("layers.0.W_Q.to", std::make_shared<Tensor>(Shape{numbers}, value));
        writer.set_metadata(patch_key, file.metadata().at(patch_key));
        return writer.bytes();
    };
    CHECK(fault(with_places({0, 3}, 2, 1)).empty());
    CHECK_THAT(fault(with_places({3, 3}, 2, 1)), Contains("position 3"));
    CHECK_THAT(fault(with_places({-1, 3}, 2, 1)), Contains("position -1"));
    CHECK_THAT(fault(with_places({0, 1024}, 2, 1)), Contains("position 1024"));
    CHECK_THAT(fault(with_places({0, 1}, 1, 1)), Contains("2 positions and 1 numbers"));
    CHECK_THAT(fault(with_places({0}, 1, NAN)), Contains("W_Q is NaN or infinite"));
    for (const std::size_t kept : {std::size_t{0}, std::size_t{9}, good.size() / 2, good.size() - 1})
        CHECK_FALSE(fault(good.substr(0, kept)).empty());
}
