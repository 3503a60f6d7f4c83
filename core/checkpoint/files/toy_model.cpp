#include "core/checkpoint/files/toy_model.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/joined.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/checkpoint/files/config_reader.h"
#include "core/checkpoint/files/toy_tensor.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

namespace headscope::checkpoint {

namespace fs = std::filesystem;

namespace {

using nlohmann::json;

/// A tensor of a description: its key, the name here, and its axes where the description does not say them.
struct Role {
    const char *key, *name;
    std::array<const char*, 3> axes; ///< of 1, 2 and 3 axes; null: it cannot have as many
    const char* linear = nullptr;    ///< of 2 axes where the description says "linear": true
    const char* wanted;              ///< the order of the axes here; those joined by "*" become one
};

constexpr std::array block_roles{Role{"W_Q", "W_Q", {nullptr, "D H*dk", "H D dk"}, "H*dk D", "D H*dk"},
                                 Role{"W_K", "W_K", {nullptr, "D K*dk", "K D dk"}, "K*dk D", "D K*dk"},
                                 Role{"W_V", "W_V", {nullptr, "D K*dk", "K D dk"}, "K*dk D", "D K*dk"},
                                 Role{"W_O", "W_O", {nullptr, "H*dk D", "H dk D"}, "D H*dk", "H*dk D"},
                                 Role{"b_Q", "b_Q", {"H*dk", "H dk", nullptr}, nullptr, "H*dk"},
                                 Role{"b_K", "b_K", {"K*dk", "K dk", nullptr}, nullptr, "K*dk"},
                                 Role{"b_V", "b_V", {"K*dk", "K dk", nullptr}, nullptr, "K*dk"},
                                 Role{"b_O", "b_O", {"D", nullptr, nullptr}, nullptr, "D"},
                                 Role{"norm1", "norm1", {"D", nullptr, nullptr}, nullptr, "D"},
                                 Role{"norm1_bias", "norm1_bias", {"D", nullptr, nullptr}, nullptr, "D"},
                                 Role{"norm2", "norm2", {"D", nullptr, nullptr}, nullptr, "D"},
                                 Role{"norm2_bias", "norm2_bias", {"D", nullptr, nullptr}, nullptr, "D"},
                                 Role{"W_in", "W_in", {nullptr, "D d_ff", nullptr}, "d_ff D", "D d_ff"},
                                 Role{"b_in", "b_in", {"d_ff", nullptr, nullptr}, nullptr, "d_ff"},
                                 Role{"W_gate", "W_gate", {nullptr, "D d_ff", nullptr}, "d_ff D", "D d_ff"},
                                 Role{"W_out", "W_out", {nullptr, "d_ff D", nullptr}, "D d_ff", "d_ff D"},
                                 Role{"b_out", "b_out", {"D", nullptr, nullptr}, nullptr, "D"}};

constexpr std::array around_roles{
    Role{"embedding", "W_E", {nullptr, "vocab D", nullptr}, nullptr, "vocab D"},
    Role{"positions", "W_P", {nullptr, "T D", "one T D"}, nullptr, "T D"},
    Role{"final_norm", "final_norm", {"D", nullptr, nullptr}, nullptr, "D"},
    Role{"final_norm_bias", "final_norm_bias", {"D", nullptr, nullptr}, nullptr, "D"},
    Role{"unembedding", "W_U", {nullptr, "D out", nullptr}, "out D", "out D"},
    Role{"unembedding_bias", "b_U", {"out", nullptr, nullptr}, nullptr, "out"}};

/// The description that TransformerLens' own names are.
constexpr const char* transformer_lens = R"({
  "embedding": "embed.W_E", "positions": "pos_embed.W_pos", "unembedding": "unembed.W_U",
  "unembedding_bias": "unembed.b_U", "final_norm": "ln_final.w", "final_norm_bias": "ln_final.b",
  "block": {"W_Q": "blocks.{l}.attn.W_Q", "W_K": "blocks.{l}.attn.W_K", "W_V": "blocks.{l}.attn.W_V",
    "W_O": "blocks.{l}.attn.W_O", "b_Q": "blocks.{l}.attn.b_Q", "b_K": "blocks.{l}.attn.b_K",
    "b_V": "blocks.{l}.attn.b_V", "b_O": "blocks.{l}.attn.b_O", "norm1": "blocks.{l}.ln1.w",
    "norm1_bias": "blocks.{l}.ln1.b", "norm2": "blocks.{l}.ln2.w", "norm2_bias": "blocks.{l}.ln2.b",
    "W_in": "blocks.{l}.mlp.W_in", "b_in": "blocks.{l}.mlp.b_in", "W_gate": "blocks.{l}.mlp.W_gate",
    "W_out": "blocks.{l}.mlp.W_out", "b_out": "blocks.{l}.mlp.b_out"}})";

/// The file with the tensors: the one that "weights" names, else one with the description's own name.
std::string weights_of(const ConfigReader& reader, const std::string& path) {
    const fs::path file(path);
    if (const auto named = reader.text("weights"))
        return (file.parent_path() / *named).string();
    for (const char* const ending : {".safetensors", ".pt", ".pth", ".bin", ".ckpt"})
        if (const fs::path beside = fs::path(file).replace_extension(ending); fs::exists(beside))
            return beside.string();
    fail_input(tr("toy_model.no_weights",
                  "{}: weights is missing; it should be the name of the file with the tensors, a safetensors "
                  "or PyTorch file in the same folder",
                  path));
}

class ToyReader {
public:
    ToyReader(const std::string& path, const json& description, std::shared_ptr<const TensorFiles> tensors)
        : path_(path), reader_(description, path), lens_(json::parse(transformer_lens)),
          source_(std::move(tensors)) {
        if (const auto layout = reader_.text("layout"); layout && *layout != "transformer_lens")
            reader_.refuse("layout", "transformer_lens");
        uses_lens_ = reader_.has("layout");
        axes_.set_heads(reader_.integer("heads", 1), reader_.integer("key_value_heads", 1));
        check_keys();
    }

    ToyModel read() {
        TensorFiles tensors = TensorFiles::without_tensors(*source_);
        std::vector<std::string> around;
        for (const Role& role : around_roles)
            if (const json* const named = around_entry(role.key))
                if (add(role, *named, role.name, 0, tensors))
                    around.emplace_back(role.name);
        require(around, "W_E", "embedding");
        const std::int64_t layers = count_layers();
        std::vector<std::string> own;
        for (std::int64_t l = 0; l < layers; ++l) {
            std::vector<std::string> found;
            for (const Role& role : block_roles)
                if (const json* const named = block_entry(l, role.key))
                    if (add(role, *named, "layers." + std::to_string(l) + "." + role.name, l, tensors))
                        found.emplace_back(role.name);
            for (const char* const needed : {"W_Q", "W_K", "W_V", "W_O"})
                require(found, needed, needed);
            if (l > 0 && found != own)
                fail_input(
                    tr("toy_model.other_tensors",
                       "{}: block {} has other tensors than block 0; only models whose blocks are alike "
                       "are read here",
                       path_, l));
            own = std::move(found);
        }
        return finish(std::move(tensors), around, own, layers);
    }

private:
    void check_keys() const {
        constexpr std::array known{
            "weights", "layout",   "heads",      "key_value_heads", "block",  "blocks", "layers",  "linear",
            "norm",    "norm_eps", "norm_place", "activation",      "causal", "scale",  "comment", "name"};
        for (const auto& [key, value] : reader_.all().items())
            if (std::ranges::find(known, key) == known.end() &&
                std::ranges::none_of(around_roles,
                                     [&name = key](const Role& role) { return name == role.key; }))
                reader_.refuse(
                    key, tr("toy_model.unknown_key", "absent; the known keys are {}, {}", joined(known),
                            joined(around_roles, [](const Role& role) { return std::string(role.key); })));
    }

    const json* around_entry(const char* key) const {
        if (const json* const own = reader_.find(key))
            return own;
        return uses_lens_ && !reader_.says_null(key) && lens_.contains(key) ? &lens_[key] : nullptr;
    }

    const json* block_entry(std::int64_t l, const char* key) const {
        const json* blocks = reader_.find("blocks");
        const json* block = reader_.find("block");
        if (blocks != nullptr && (!blocks->is_array() || blocks->empty() || !(*blocks)[0].is_object()))
            reader_.refuse("blocks", tr("toy_model.blocks", "a list with an object for each layer"));
        const json* const own = blocks != nullptr ? &(*blocks)[static_cast<std::size_t>(l)] : block;
        if (own != nullptr && !own->is_object())
            reader_.refuse(blocks != nullptr ? "blocks" : "block",
                           tr("toy_model.block", "an object that names the tensors of a layer"));
        if (own != nullptr)
            for (const auto& [name, value] : own->items())
                if (std::ranges::none_of(block_roles,
                                         [&key = name](const Role& role) { return key == role.key; }))
                    fail_input(
                        tr("toy_model.unknown_block_key", "{}: a block has the key {}; the known ones are {}",
                           path_, name,
                           joined(block_roles, [](const Role& role) { return std::string(role.key); })));
        if (own != nullptr && own->contains(key))
            return (*own)[key].is_null() ? nullptr : &(*own)[key];
        return uses_lens_ && lens_["block"].contains(key) ? &lens_["block"][key] : nullptr;
    }

    std::int64_t count_layers() const {
        if (const json* const blocks = reader_.find("blocks"); blocks != nullptr && blocks->is_array())
            return std::ssize(*blocks);
        if (const auto given = reader_.integer("layers", 1)) {
            if (*given > most_toy_layers)
                reader_.refuse("layers", tr("common.most", "at most {}", most_toy_layers));
            return *given;
        }
        const json* const first = block_entry(0, "W_Q");
        std::int64_t layers = 0;
        while (first != nullptr && layers < most_toy_layers &&
               source_->find(ToyName(*first, layers, path_).tensor) != nullptr &&
               (layers == 0 || ToyName(*first, layers, path_).tensor != ToyName(*first, 0, path_).tensor))
            ++layers;
        return std::max<std::int64_t>(layers, 1);
    }

    void require(const std::vector<std::string>& found, const char* name, const char* key) const {
        if (std::ranges::find(found, name) == found.end())
            fail_input(tr("toy_model.needed", "{}: {} is missing; it should name a tensor of {}", path_, key,
                          source_name()));
    }

    std::string source_name() const {
        if (source_->files().empty())
            return path_;
        return std::visit([](const auto& opened) { return opened->source(); }, source_->files().front());
    }

    /// Adds a tensor under its name here. Returns false if it is one of TransformerLens' that the file lacks.
    bool add(const Role& role, const json& named, const std::string& name, std::int64_t l, TensorFiles& to) {
        const ToyName wanted(named, l, path_);
        const format::TensorEntry* const entry = source_->find(wanted.tensor);
        if (entry == nullptr && uses_lens_ && named.is_string() && is_of_lens(role.key, named))
            return false;
        if (entry == nullptr)
            fail_input(tr("toy_model.no_tensor", "{}: {} names the tensor {}, which {} does not have", path_,
                          role.key, wanted.tensor, source_name()));
        std::vector<std::int64_t> extents = entry->extents;
        if (wanted.rows)
            wanted.check_rows(extents, path_);
        std::string axes = wanted.axes;
        const bool linear = reader_.flag("linear", false);
        if (axes.empty()) {
            const std::size_t rank = extents.size();
            const char* const usual = rank < 1 || rank > role.axes.size() ? nullptr
                                      : linear && rank == 2 && role.linear != nullptr
                                          ? role.linear
                                          : role.axes.at(rank - 1);
            if (usual == nullptr)
                fail_input(tr("toy_model.rank",
                              "{}: {} is the tensor {} of shape {}; say its axes, for example {{\"tensor\": "
                              "\"{}\", \"axes\": \"{}\"}}",
                              path_, role.key, wanted.tensor, entry->shape_text(), wanted.tensor,
                              role.axes[1] != nullptr ? role.axes[1] : role.axes[0]));
            axes = usual;
        }
        const ToyPermutation order =
            axes_.match(axes, role.wanted, extents, path_ + ": " + role.key + " (" + wanted.tensor + ")");
        to.add_made({name, entry->dtype, order.result},
                    [source = source_, tensor = wanted.tensor, rows = wanted.rows, order] {
                        return order.apply(*source->tensor(tensor), rows);
                    });
        return true;
    }

    bool is_of_lens(const char* key, const json& named) const {
        const auto same = [&](const json& in) { return in.contains(key) && in[key] == named; };
        return same(lens_) || same(lens_["block"]);
    }

    ToyModel finish(TensorFiles tensors, const std::vector<std::string>& around,
                    const std::vector<std::string>& own, std::int64_t layers) const {
        const auto has = [](const std::vector<std::string>& names, const char* name) {
            return std::ranges::find(names, name) != names.end();
        };
        const bool has_mlp = has(own, "W_in");
        if (has_mlp != has(own, "W_out"))
            fail_input(tr("toy_model.half_mlp", "{}: of W_in and W_out only one is there; name both", path_));
        const bool weighted = has(own, "norm1");
        if (has_mlp && weighted != has(own, "norm2"))
            fail_input(tr("toy_model.half_norms",
                          "{}: of norm1 and norm2 only one is there; name both, or \"norm\": \"none\"",
                          path_));
        const std::string norm = reader_.text("norm", weighted ? "layer" : "");
        constexpr std::array norms{"none", "layer", "rms"};
        if (norm.empty())
            reader_.refuse("norm",
                           tr("toy_model.norm",
                              "\"none\", \"layer\" or \"rms\", because the blocks name no norm1: without "
                              "norms, or with norms that have no weights"));
        if (std::ranges::find(norms, norm) == norms.end())
            reader_.refuse("norm", tr("common.one", "one of {}", joined(norms)));
        if (norm == "none" && (weighted || has(around, "final_norm")))
            reader_.refuse("norm", tr("toy_model.not_none", "\"layer\" or \"rms\", since norm1 is named"));
        const std::string place = reader_.text("norm_place", "before");
        if (place != "before" && place != "after")
            reader_.refuse("norm_place", tr("common.one", "one of {}", "before, after"));
        if (has_mlp && !reader_.has("activation"))
            reader_.refuse("activation",
                           tr("toy_model.activation",
                              "the name of the function inside the MLP, such as relu, gelu or gelu_new"));
        ToyModel model;
        if (!has_mlp)
            add_empty_mlp(layers, tensors);
        std::vector<std::string> names = around;
        const auto outputs = axes_.find("out");
        if (outputs && *outputs != axes_.at("vocab")) {
            tensors.rename([](const std::string& name) {
                return name == "W_U" || name == "b_U" ? "unembedding." + name : name;
            });
            std::erase_if(names, [](const std::string& name) { return name == "W_U" || name == "b_U"; });
            model.note = tr("toy_model.other_outputs",
                            "The unembedding has {} outputs for {} tokens, so there are no logits here",
                            *outputs, axes_.at("vocab"));
        }
        if (has(around, "W_P") && source_->find("pos_embed.W_pos") != nullptr)
            model.note +=
                (model.note.empty() ? "" : "; ") +
                tr("toy_model.added_positions",
                   "TransformerLens' file does not say how positions are used; they are added to the "
                   "embedding (its \"standard\"), and a model with \"shortformer\" would have other "
                   "numbers");
        json config{{"model_type", "toy"},
                    {"num_hidden_layers", layers},
                    {"hidden_size", axes_.at("D")},
                    {"num_attention_heads", axes_.at("H")},
                    {"num_key_value_heads", axes_.at("K")},
                    {"head_dim", axes_.at("dk")},
                    {"intermediate_size", has_mlp ? axes_.at("d_ff") : 1},
                    {"vocab_size", axes_.at("vocab")},
                    {"max_position_embeddings", axes_.find("T").value_or(most_toy_positions)},
                    {"hidden_act", has_mlp ? reader_.text("activation", "") : "linear"},
                    {"norm", norm},
                    {"norm_after", place == "after"},
                    {"norm_eps", reader_.positive("norm_eps", 1e-5)},
                    {"causal", reader_.flag("causal", true)},
                    {"block_tensors", own},
                    {"around_tensors", names}};
        if (const auto scale = reader_.number("scale"))
            config["scale"] = *scale;
        model.tensors = std::move(tensors);
        model.config = config.dump();
        return model;
    }

    /// An MLP of one unit that adds 0.
    void add_empty_mlp(std::int64_t layers, TensorFiles& to) const {
        const std::int64_t D = axes_.at("D");
        for (std::int64_t l = 0; l < layers; ++l)
            for (const auto& [name, rows, cols] :
                 {std::tuple("W_in", D, std::int64_t{1}), std::tuple("W_out", std::int64_t{1}, D)})
                to.add_made(
                    {"layers." + std::to_string(l) + "." + name, "F32", {rows, cols}},
                    [shape = Shape{rows, cols}] { return std::make_shared<const Tensor>(shape, 0.0F); });
    }

    static constexpr std::int64_t most_toy_layers = 1000, most_toy_positions = 4096;
    std::string path_;
    ConfigReader reader_;
    json lens_;
    bool uses_lens_ = false;
    std::shared_ptr<const TensorFiles> source_;
    ToyAxes axes_;
};

} // namespace

bool is_toy_model(const std::string& path) {
    std::error_code ignored;
    if (!path.ends_with(".json") || !fs::is_regular_file(path, ignored) ||
        fs::file_size(path, ignored) > std::uintmax_t{mebibyte})
        return false;
    try {
        const json parsed = parse_json(read_file(path), path);
        return parsed.is_object() &&
               (parsed.contains("blocks") || parsed.contains("block") || parsed.contains("layout"));
    } catch (const Error&) {
        return false;
    }
}

ToyModel open_toy_model(const std::string& path) {
    const std::string text = read_file(path);
    const json description = parse_json(text, path);
    return read_toy_model(text, path,
                          std::make_shared<const TensorFiles>(
                              TensorFiles::open_file(weights_of(ConfigReader(description, path), path))));
}

ToyModel read_toy_model(std::string_view description, const std::string& source,
                        std::shared_ptr<const TensorFiles> tensors) {
    const json parsed = parse_json(description, source);
    return ToyReader(source, parsed, std::move(tensors)).read();
}

} // namespace headscope::checkpoint
