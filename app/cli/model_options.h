#pragma once

#include "app/cli/problem_options.h"
#include "core/checkpoint/run/forward.h"
#include "core/export/trace_export.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace headscope::cli {

/// A gain of a head of a checkpoint, its layer filled in: h=g is head h of `layer`. Throws Error(input) when
/// there is no such head, Error(usage) for text of another form.
GainChange parse_model_gain(const std::string& text, const checkpoint::Architecture& architecture,
                            std::int64_t layer);

/// The options of `trace` and `export` that run a checkpoint instead of one problem. Lives as long as the App
/// that has the options.
class ModelOptions {
public:
    /// Call after ProblemOptions::add_to, because some of these options exclude those. `layer`: help text of
    /// --layer.
    void add_to(CLI::App& command, const std::string& layer);
    bool given() const { return folder_.has_value(); }
    /// Runs the model and writes the file, with the stages `wanted.stages` of each layer. gains: the values
    /// of --gain; temperature: for every layer. Throws Error(usage) when the options contradict each other,
    /// Error(input) when their values are at fault.
    void run(const exporting::TraceExport& wanted, const std::vector<std::string>& gains, float temperature,
             const std::string& device, const std::string& out) const;
    /// Computes the attention of one layer (--layer, or 0) and keeps its problem. Throws like run().
    checkpoint::LayerRun run_layer(StageSet stages, const std::vector<std::string>& gains, float temperature,
                                   const std::string& device) const;
    /// Every layer's attention, or that of --layer, and what it was computed for.
    struct Layers {
        checkpoint::ModelInputs inputs;
        std::vector<checkpoint::LayerRun> layers;
    };
    /// Throws likewise.
    Layers run_layers(StageSet stages, const std::vector<std::string>& gains, float temperature,
                      const std::string& device) const;
    /// "layer 0 of FOLDER"
    std::string layer_title() const;

private:
    void check_usage(const std::vector<std::string>& gains) const;
    /// The edits of --patch, with the gains on top.
    checkpoint::ModelEdits read_edits(const checkpoint::Model& model,
                                      const std::vector<std::string>& gains) const;
    checkpoint::ForwardResult forward(const checkpoint::Model& model, const checkpoint::ModelInputs& inputs,
                                      const checkpoint::ForwardOptions& options,
                                      const std::string& device) const;
    checkpoint::ModelInputs read_inputs(const checkpoint::Architecture& architecture) const;

    std::optional<std::string> folder_, text_, inputs_path_, patch_path_;
    std::optional<std::vector<std::int64_t>> ids_;
    std::optional<std::int64_t> layer_;
};

/// What a patch file and gains such as "3.2=0" change; a gain without a layer is of `layer`. Throws
/// Error(input) naming the gain or the file that does not fit the model.
checkpoint::ModelEdits read_model_edits(const checkpoint::Model& model,
                                        const std::optional<std::string>& patch,
                                        const std::vector<std::string>& gains, std::int64_t layer);

} // namespace headscope::cli
