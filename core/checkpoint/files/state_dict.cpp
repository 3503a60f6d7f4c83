#include "core/checkpoint/files/state_dict.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/tensor/views.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

namespace headscope::checkpoint {

namespace fs = std::filesystem;

namespace {

std::atomic<std::int64_t> head_count = 0;

enum class Spelling : std::uint8_t {
    unknown,
    of_gpt2, ///< nanoGPT, and minGPT since 2022: GPT-2's names
    of_2020  ///< minGPT until then: tok_emb, blocks.0.attn.key
};

Spelling spelling_of(const TensorFiles& tensors) {
    const auto has = [&](const char* name) { return tensors.find(name) != nullptr; };
    // Hugging Face's GPT-2 has the same names, but stores its matrices transposed, (inputs, outputs).
    const format::TensorEntry* const joined = tensors.find("transformer.h.0.attn.c_attn.weight");
    const bool is_linear =
        joined != nullptr && joined->extents.size() == 2 && joined->extents[0] == 3 * joined->extents[1];
    if (has("transformer.wte.weight") && has("transformer.wpe.weight") &&
        has("transformer.h.0.ln_1.weight") && is_linear)
        return Spelling::of_gpt2;
    if (has("tok_emb.weight") && has("pos_emb") && has("blocks.0.attn.key.weight") && has("head.weight"))
        return Spelling::of_2020;
    return Spelling::unknown;
}

const std::vector<std::int64_t>& needed_extents(const TensorFiles& tensors, const std::string& name,
                                                std::size_t axes, const std::string& path) {
    const format::TensorEntry* const entry = tensors.find(name);
    if (entry == nullptr || entry->extents.size() != axes)
        fail_input(tr("state_dict.lacks_tensor",
                      "{} has tensors of a nanoGPT or minGPT model, but no {} with {} axes; save the whole "
                      "state_dict() of the model",
                      path, name, axes));
    return entry->extents;
}

std::int64_t count_layers(const TensorFiles& tensors, const std::string& stem, const std::string& end) {
    std::int64_t layers = 0;
    while (tensors.find(stem + std::to_string(layers) + end) != nullptr)
        ++layers;
    return layers;
}

/// GPT-2's names for minGPT's of 2020, whose queries, keys and values are three tensors.
TensorFiles with_newer_names(const TensorFiles& older, std::int64_t layers, const std::string& path) {
    const auto source = std::make_shared<const TensorFiles>(older);
    TensorFiles tensors = TensorFiles::without_tensors(older);
    const auto take = [&](const std::string& name, const std::string& from) {
        if (const format::TensorEntry* const entry = source->find(from))
            tensors.add_made({name, entry->dtype, entry->extents},
                             [source, from] { return source->tensor(from); });
    };
    const std::vector<std::int64_t> positions = needed_extents(older, "pos_emb", 3, path);
    tensors.add_made({"transformer.wpe.weight", older.find("pos_emb")->dtype, {positions[1], positions[2]}},
                     [source] {
                         const TensorPtr whole = source->tensor("pos_emb");
                         return std::make_shared<const Tensor>(Shape{whole->shape()[1], whole->shape()[2]},
                                                               whole->values());
                     });
    take("transformer.wte.weight", "tok_emb.weight");
    take("lm_head.weight", "head.weight");
    for (const char* const part : {"weight", "bias"}) {
        const std::string end = std::string(".") + part;
        take("transformer.ln_f" + end, "ln_f" + end);
        for (std::int64_t l = 0; l < layers; ++l) {
            const std::string from = "blocks." + std::to_string(l) + ".",
                              to = "transformer.h." + std::to_string(l) + ".";
            for (const auto& [name, old] : {std::pair("ln_1", "ln1"),
                                            {"ln_2", "ln2"},
                                            {"attn.c_proj", "attn.proj"},
                                            {"mlp.c_fc", "mlp.0"},
                                            {"mlp.c_proj", "mlp.2"}})
                take(to + name + end, from + old + end);
            const std::string stem = from + "attn.";
            const std::vector<std::string> three{stem + "query" + end, stem + "key" + end,
                                                 stem + "value" + end};
            std::vector<std::int64_t> extents = needed_extents(older, three[0], end == ".bias" ? 1 : 2, path);
            for (const std::string& name : three)
                if (needed_extents(older, name, extents.size(), path) != extents)
                    fail_input(
                        tr("state_dict.other_shape",
                           "{}: {} has another shape than {}; save the whole state_dict() of the model", path,
                           name, three[0]));
            extents[0] *= 3;
            const bool is_bias = extents.size() == 1;
            const Shape shape = is_bias ? Shape{extents[0]} : Shape{extents[0], extents[1]};
            tensors.add_made({to + "attn.c_attn" + end, older.find(three[0])->dtype, extents},
                             [source, three, shape]() -> TensorPtr {
                                 auto joined = std::make_shared<Tensor>(shape);
                                 float* out = joined->data();
                                 for (const std::string& name : three)
                                     out = std::ranges::copy(source->tensor(name)->values(), out).out;
                                 return joined;
                             });
        }
    }
    return tensors;
}

/// A whole number that the trainer saved, by one of its usual places.
std::optional<std::int64_t> saved_setting(const TensorFiles& tensors, const std::string& key) {
    const auto* const torch = std::get_if<std::shared_ptr<const format::TorchFile>>(&tensors.files().front());
    if (torch == nullptr)
        return std::nullopt;
    for (const char* const place : {"model_args.", "config.", "args.", "hparams.", "hyper_parameters."})
        if (const auto found = (*torch)->settings().find(place + key); found != (*torch)->settings().end())
            return found->second;
    return std::nullopt;
}

} // namespace

void set_head_count(std::int64_t heads) {
    head_count = heads;
}

bool is_state_dict(const std::string& path) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored) || path.ends_with(".json") ||
        fs::exists(fs::path(path).parent_path() / "config.json", ignored))
        return false;
    if (!is_weights_file(path) && !path.ends_with(".safetensors"))
        return false;
    try {
        return spelling_of(TensorFiles::open_file(path)) != Spelling::unknown;
    } catch (const Error&) {
        return false;
    }
}

std::optional<std::string> state_dict_in(const std::string& folder) {
    std::optional<std::string> found;
    std::error_code fault;
    if (fs::exists(fs::path(folder) / "config.json", fault))
        return found;
    for (fs::directory_iterator entry(folder, fault), end; !fault && entry != end; entry.increment(fault)) {
        const std::string path = entry->path().string();
        if (!format::has_torch_ending(path) || !is_state_dict(path))
            continue;
        if (found)
            return std::nullopt;
        found = path;
    }
    return found;
}

StateDict open_state_dict(const std::string& path) {
    TensorFiles tensors = TensorFiles::open_file(path);
    const bool older = spelling_of(tensors) == Spelling::of_2020;
    const std::int64_t layers = older ? count_layers(tensors, "blocks.", ".attn.key.weight")
                                      : count_layers(tensors, "transformer.h.", ".attn.c_attn.weight");
    // nanoGPT shares one table between embedding and head, minGPT does not.
    const bool tied = !older && (tensors.find("lm_head.weight") == nullptr ||
                                 tensors.same_numbers("lm_head.weight", "transformer.wte.weight"));
    const std::int64_t heads = head_count.load();
    const std::optional<std::int64_t> saved = saved_setting(tensors, "n_head");
    if (older)
        tensors = with_newer_names(tensors, layers, path);
    const std::vector<std::int64_t> words = needed_extents(tensors, "transformer.wte.weight", 2, path),
                                    positions = needed_extents(tensors, "transformer.wpe.weight", 2, path),
                                    inner =
                                        needed_extents(tensors, "transformer.h.0.mlp.c_fc.weight", 2, path);
    const std::int64_t H = heads > 0 ? heads : saved.value_or(0);
    if (H < 1)
        fail_input(
            tr("state_dict.heads_not_known",
               "{} has the weights of a nanoGPT or minGPT model and does not say how many heads they have; "
               "give the number with --heads",
               path));
    if (words[1] % H != 0)
        fail_input(tr("state_dict.heads_do_not_divide",
                      "{}: the width {} cannot be divided among {} heads; give their number with --heads",
                      path, words[1], H));
    const nlohmann::json config{{"model_type", "nanogpt"},
                                {"n_layer", layers},
                                {"n_head", H},
                                {"n_embd", words[1]},
                                {"n_inner", inner[0]},
                                {"n_positions", positions[0]},
                                {"vocab_size", words[0]},
                                {"bias", tensors.find("transformer.h.0.attn.c_attn.bias") != nullptr},
                                {"activation_function", tied || older ? "gelu" : "gelu_new"},
                                {"tie_word_embeddings", tied}};
    return {std::move(tensors), config.dump()};
}

} // namespace headscope::checkpoint
