#include "core/base/error.h"
#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/families/families.h"
#include "core/checkpoint/files/adapted.h"
#include "core/checkpoint/files/adapter.h"
#include "core/checkpoint/files/consolidated.h"
#include "core/checkpoint/files/toy_model.h"
#include "tests/fuzz/target.h"

#include <memory>
#include <sstream>

using namespace headscope;

namespace {

using checkpoint::TensorFiles;

void add(TensorFiles& tensors, const std::string& name, std::vector<std::int64_t> extents) {
    const Shape shape = extents.size() == 1   ? Shape{extents[0]}
                        : extents.size() == 2 ? Shape{extents[0], extents[1]}
                                              : Shape{extents[0], extents[1], extents[2]};
    tensors.add_made({name, "F32", std::move(extents)},
                     [shape] { return std::make_shared<const Tensor>(shape, 0.5F); });
}

constexpr std::string_view small_gpt2 =
    R"({"model_type":"gpt2","n_layer":1,"n_head":2,"n_embd":4,"n_positions":4,"vocab_size":6})";

/// The first line is adapter_config.json, each further line the name of a tensor.
void read_adapter(std::string_view bytes) {
    std::istringstream lines{std::string(bytes)};
    std::string config, name;
    std::getline(lines, config);
    fuzz::accepted([&] {
        auto tensors = std::make_shared<TensorFiles>();
        for (int count = 0; std::getline(lines, name) && count < 20; ++count)
            add(*tensors, name,
                name.find("lora_A") != std::string::npos ? std::vector<std::int64_t>{2, 4}
                : name.ends_with("lora_B.weight")        ? std::vector<std::int64_t>{12, 2}
                                                         : std::vector<std::int64_t>{6, 4});
        const checkpoint::Adapter adapter = checkpoint::Adapter::read(config, "input", tensors);
        for (const checkpoint::Adapter::Product& product : adapter.products())
            fuzz::require(product.rank > 0 && tensors->find(product.A) != nullptr &&
                          tensors->find(product.B) != nullptr);
        const checkpoint::Architecture base = checkpoint::read_architecture(small_gpt2, "config.json");
        TensorFiles files;
        add(files, "transformer.wte.weight", {6, 4});
        add(files, "transformer.h.0.attn.c_attn.weight", {4, 12});
        const checkpoint::Adapted adapted = checkpoint::adapt(adapter, "base", base, files);
        for (const std::string& changed : adapted.changed)
            fuzz::require(files.tensor(changed)->count() > 0);
    });
}

void read_toy(std::string_view bytes) {
    auto tensors = std::make_shared<TensorFiles>();
    add(*tensors, "E", {6, 4});
    add(*tensors, "U", {4, 6});
    add(*tensors, "M", {4, 4});
    add(*tensors, "H", {2, 4, 2});
    add(*tensors, "O", {2, 2, 4});
    add(*tensors, "v", {4});
    fuzz::accepted([&] {
        const checkpoint::ToyModel model = checkpoint::read_toy_model(bytes, "input", tensors);
        const checkpoint::Architecture a = checkpoint::read_architecture(model.config, "input");
        fuzz::require(a.D == 4 && a.layers > 0 && a.H > 0);
        for (const format::TensorEntry* const entry : model.tensors.entries()) {
            std::int64_t count = 1;
            for (const std::int64_t extent : entry->extents)
                count *= extent;
            fuzz::require(model.tensors.tensor(entry->name)->count() == count);
        }
    });
}

void read_params(std::string_view bytes) {
    TensorFiles tensors;
    add(tensors, "model.embed_tokens.weight", {6, 4});
    add(tensors, "model.layers.0.mlp.gate_proj.weight", {8, 4});
    add(tensors, "model.layers.0.block_sparse_moe.experts.0.w1.weight", {8, 4});
    fuzz::accepted([&] {
        checkpoint::read_architecture(checkpoint::config_of_params(bytes, "params.json", tensors), "input");
    });
}

const fuzz::Registered adapter_target({.name = "adapter", .read = read_adapter});
const fuzz::Registered toy_target({.name = "toy", .read = read_toy});
const fuzz::Registered params_target({.name = "params", .read = read_params});

} // namespace
