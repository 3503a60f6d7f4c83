#pragma once

#include "core/checkpoint/files/adapted.h"
#include "core/checkpoint/files/other_parts.h"
#include "core/checkpoint/files/tensor_files.h"
#include "core/checkpoint/model/model_config.h"
#include "core/checkpoint/weights/kept_weights.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace headscope::checkpoint {

class ModelStages;
struct Architecture;
struct TensorName;

/// What does not fit between a checkpoint's tensors and its architecture. Names are those of the file.
struct CheckpointReport {
    std::vector<std::string> missing;      ///< of the embeddings and layers: without them nothing runs
    std::vector<std::string> head_missing; ///< of the language-model head: without them there are no logits
    std::vector<std::string> wrong_shape;  ///< sentences: name, what it has, what it should have
    std::vector<std::string> unknown;      ///< in the file, and no part of this family
    std::vector<std::string> unused;       ///< known, and of no use to the forward pass (a pooler, buffers)
    std::vector<std::string>
        unknown_in_layers;  ///< those of `unknown` that belong to a layer, and so change numbers
    OtherParts other_parts; ///< of a multimodal checkpoint; their tensors are in none of the lists
    std::map<std::string, std::int64_t> parameters; ///< numbers stored, by dtype
};

/// The policy for tensors inside layers that the family does not have.
enum class UnknownTensors : std::uint8_t {
    refuse, ///< Model::problem() names one
    ignore  ///< the model runs without them, and ignored_tensors() lists them
};

/// Sets the policy of this process, for models opened from now on. Any thread; a command sets it before it
/// opens one.
void set_unknown_tensors(UnknownTensors policy);

/// An opened checkpoint. Weights are read, checked and brought into our layout when they are asked for, and
/// stay in memory within a budget; beyond it they are read again each time, so that a larger model needs that
/// and the memory of one layer more. A weight is one object as long as anybody holds it. Any thread may use a
/// model; copies share what is kept.
class Model {
public:
    static constexpr std::size_t default_kept_bytes = std::size_t{1} << 30U;

    /// `path` is a folder with config.json and the tensors or another folder that stands for a checkpoint
    /// (see checkpoint_at), a PyTorch file next to a config.json, or a GGUF file. Of a LoRA adapter, whose
    /// base is on this machine (see base_of), it is the base with the adapter's changes. Tensors that are
    /// missing, unknown or of a wrong shape go into the report. Throws Error(input) for what cannot be read
    /// at all (see TensorFiles, read_architecture and read_gguf_architecture). Nothing is fetched from a
    /// network. kept_bytes: what kept weights may take together, as float32, and a quarter of the free memory
    /// at most: what stands around the layers first, then the last layers, which an edit anywhere computes
    /// again.
    static Model open(const std::string& path, std::size_t kept_bytes = default_kept_bytes);

    /// As it was given.
    const std::string& path() const { return path_; }
    /// The folder with config.json and the tokenizer; of a GGUF file, which has both, the path; of an adapter
    /// the base's.
    const std::string& folder() const { return folder_; }
    /// The sizes of the model; of the decoder in an encoder-decoder.
    const ModelConfig& config() const;
    /// For core/checkpoint alone: what the graph is made of.
    const Architecture& architecture() const { return *architecture_; }
    /// Of an encoder-decoder, whose decoder and head this is; else null.
    const Model* encoder() const { return encoder_.get(); }
    const TensorFiles& files() const { return files_; }
    /// The text of config.json, or what stands for it (see checkpoint_files.h); empty for a GGUF file.
    const std::string& config_text() const { return config_text_; }
    /// A sentence about what no file says and is assumed; empty: nothing.
    const std::string& assumed() const { return assumed_; }
    /// Changes of a LoRA adapter to its base; null for other models.
    const Adapted* adapted() const { return adapted_.get(); }
    const CheckpointReport& report() const { return report_; }
    /// The way in which most matrices of a safetensors folder are stored in fewer bits, for people ("GPTQ, 4
    /// bits"). Empty: in none, or in one that is not read; see find_quantized.
    const std::string& quantization() const { return quantization_; }
    bool has_head() const { return report_.head_missing.empty(); }
    /// What keeps the model from running, in a sentence: missing or misshapen tensors, and tensors inside
    /// layers (of a GGUF file, anywhere) that the family does not have, since they would change the numbers.
    /// Empty: it runs.
    std::string problem() const;
    /// The tensors that problem() would refuse but for UnknownTensors::ignore: numbers may be wrong without
    /// them.
    const std::vector<std::string>& ignored_tensors() const { return ignored_; }
    /// Throws Error(input) with that sentence.
    void require_runnable() const;

    // Each needs require_runnable() to hold, and throws Error(input) for NaN or infinite weights and for
    // files that were cut short since they were opened.
    /// One tensor of embedding, final norm or head; null where the model has none. The output table of a tied
    /// model is its word table; a decoder without a word table reads with its encoder's.
    TensorPtr weight(TensorId id) const;
    /// What attention n reads, and the MLP where it comes next; see stacks.h. In a model of one stack all of
    /// layer n.
    WeightSet layer(std::int64_t n) const;

    /// The stages around the attentions, from the graph of the model, which is built when they are asked for
    /// first. Valid as long as the model or a copy of it.
    const ModelStages& stages() const;

private:
    struct LazyStages;
    Model() = default;
    void match_stack(std::set<std::string>& known, CheckpointReport& report);
    void sort_others(const std::set<std::string>& known);
    void match_rows(const std::vector<TensorName>& rows, std::string_view prefix,
                    std::set<std::string>& known, std::vector<std::string>& missing,
                    std::vector<std::string>& wrong_shape) const;
    bool is_of_no_use(const std::string& name) const;
    bool is_in_a_layer(const std::string& name) const;
    bool is_empty_bias(const std::string& name) const;
    /// A file with a head that differs from the word table has two tables, whatever its config says.
    void decide_tied();
    void plan_kept(std::size_t kept_bytes);
    std::int64_t attentions_per_layer() const { return encoder_ == nullptr ? 1 : 2; }
    WeightSet read_step(std::int64_t step) const;
    /// What the tensor is called in the files; its usual name where they lack it.
    std::string name_in_files(const TensorName& row, std::string_view prefix, std::int64_t l) const;
    std::vector<std::string> names_in_files(const TensorName& row, std::string_view prefix,
                                            std::int64_t l) const;
    TensorPtr load(const TensorName& row, std::string_view prefix, std::int64_t l) const;
    TensorPtr load_experts(const TensorName& row, std::string_view prefix, std::int64_t l) const;

    std::string path_, folder_, config_text_, assumed_;
    std::shared_ptr<Architecture> architecture_; ///< does not change once the model is opened
    TensorFiles files_;
    std::string prefix_;
    std::shared_ptr<const Adapted> adapted_;
    CheckpointReport report_;
    std::string quantization_;
    std::vector<std::string> ignored_;
    std::shared_ptr<const Model> encoder_;
    std::shared_ptr<std::vector<KeptWeights>> kept_; ///< around the layers, then each attention of the stack
    std::shared_ptr<LazyStages> stages_;
};

} // namespace headscope::checkpoint
