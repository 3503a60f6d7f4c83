#pragma once

#include "core/checkpoint/config.h"
#include "core/checkpoint/name_map.h"
#include "core/checkpoint/tensor_files.h"
#include "core/tensor/tensor.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace headscope {

/// What a checkpoint's tensors leave to say. Names are those of the file.
struct CheckpointReport {
    std::vector<std::string> missing;      ///< of the embeddings and layers: without them nothing runs
    std::vector<std::string> head_missing; ///< of the language-model head: without them there are no logits
    std::vector<std::string> wrong_shape;  ///< sentences: name, what it has, what it should have
    std::vector<std::string> unknown;      ///< in the file, and no part of this family
    std::vector<std::string> unused;       ///< known, and of no use to the forward pass (a pooler, buffers)
    std::map<std::string, std::int64_t> parameters; ///< numbers stored, by dtype
};

/// The weights of one layer or of what stands around the layers, by slot; null where the model has none. In
/// our convention: matrices (d_in, d_out), tables (rows, D).
struct WeightSet {
    std::array<TensorPtr, slot_count> tensors;
    const TensorPtr& operator[](Slot slot) const { return tensors[static_cast<std::size_t>(slot)]; }
};

/// An opened checkpoint. Weights stay on disk: they are read, checked and brought into our layout when they
/// are asked for, so that a model needs the memory of one layer and its embeddings. Immutable; any thread may
/// use it.
class Model {
public:
    /// `folder` holds config.json and the tensors. Tensors that are missing, unknown or of a wrong shape go
    /// into the report. Throws Error(input) for what cannot be read at all (see TensorFiles and
    /// parse_model_config). Nothing is fetched from a network.
    static Model open(const std::string& folder);

    const std::string& folder() const { return folder_; }
    const ModelConfig& config() const { return config_; }
    const CheckpointReport& report() const { return report_; }
    bool has_head() const { return report_.head_missing.empty(); }
    /// Throws Error(input) naming what keeps the model from running: missing or misshapen tensors.
    void require_runnable() const;

    // Each needs require_runnable() to hold, and throws Error(input) for NaN or infinite weights and for
    // files that were cut short since they were opened.
    /// One tensor of the embeddings, final norm or head; null where the model has none. The head of a tied
    /// model is its word embedding.
    TensorPtr shared(Slot slot) const;
    /// All of layer l.
    WeightSet layer(std::int64_t l) const;

private:
    Model() = default;
    void match();
    void match_rows(std::span<const TensorName> rows, std::string_view prefix,
                    std::vector<std::string>& missing);
    TensorPtr load(const TensorName& row, std::string_view prefix, std::int64_t l) const;

    std::string folder_;
    ModelConfig config_;
    TensorFiles files_;
    std::string prefix_;
    CheckpointReport report_;
};

} // namespace headscope
