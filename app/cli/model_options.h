#pragma once

#include "app/cli/problem_options.h"
#include "app/cli/second_text.h"
#include "core/checkpoint/model/text_model.h"
#include "core/checkpoint/run/forward.h"
#include "core/checkpoint/weights/weight_set.h"
#include "core/export/script_part.h"
#include "core/export/trace_export.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace headscope::cli {

/// A head gain of a checkpoint.
struct ModelGain {
    checkpoint::AttentionPlace place;
    std::int64_t head = 0;
    float factor = 1;
};
/// h=g means head h of `layer`; in an encoder-decoder, a gain without a stack applies to the decoder. Throws
/// Error(input) if there is no such head and for text of another format.
ModelGain parse_model_gain(const std::string& text, const checkpoint::ModelConfig& config,
                           std::int64_t layer);

/// The options for the input of the decoder of an encoder-decoder; they require `model`.
struct DecoderText {
    std::optional<std::string> text;
    std::optional<std::vector<std::int64_t>> ids; ///< including the start token
    void add_to(CLI::App& command, const std::string& group, const std::string& ids_help);
    /// Adds only the option for the text, for the window, which has a field for it. Returns the option.
    CLI::Option* add_text_to(CLI::App& command, const std::string& group, const std::string& help);
    bool given() const { return text || ids; }
    /// Throws Error(usage) if they were given for a model with a single stack.
    void check(const checkpoint::ModelConfig& config) const;
};

/// The option --stack: one of the three attentions of an encoder-decoder.
class StackOption {
public:
    /// Returns the option, so that it can need others.
    CLI::Option* add_to(CLI::App& command, const std::string& group);
    /// Throws Error(usage) if it was given for a model with a single stack, and if it is `needed` and
    /// missing.
    std::optional<checkpoint::Stack> in(const checkpoint::ModelConfig& config, bool needed) const;
    const std::optional<std::string>& name() const { return name_; }

private:
    std::optional<std::string> name_;
};

/// The options of `trace` and `export` that run a checkpoint instead of a single attention input. Must live
/// as long as the App that has the options.
class ModelOptions {
public:
    /// Call after ProblemOptions::add_to, because some of these options exclude those. `layer`: help text of
    /// --layer.
    void add_to(CLI::App& command, const std::string& layer);
    /// Adds --stack: one of the three attentions of an encoder-decoder. `needed`: it is required.
    void add_stack_to(CLI::App& command, bool needed = true);
    bool given() const { return folder_.has_value(); }
    /// The value of --stack.
    const std::optional<std::string>& stack_name() const { return stack_.name(); }
    /// Returns true if an option specifies the model's input, other than the decoder's.
    bool has_tokens() const { return ids_ || text_ || text_path_ || inputs_path_; }
    /// Runs the model and writes the file, with the stages `wanted.stages` of each layer. gains: the values
    /// of --gain; temperature: for every layer. Throws Error(usage) if the options contradict each other,
    /// Error(input) if their values are invalid.
    void run(const exporting::TraceExport& wanted, const std::vector<std::string>& gains, float temperature,
             const std::string& device, const std::string& out) const;
    /// The attention of a layer with its problem, and what is around it.
    struct WholeLayer {
        checkpoint::LayerRun attention;
        std::map<TensorId, TensorPtr> stages; ///< of block_table(), those that were asked for
        checkpoint::WeightSet weights;        ///< with edits
    };
    /// Computes one layer (--layer, or 0). Throws like run().
    WholeLayer run_whole_layer(StageSet stages, const std::vector<std::string>& gains, float temperature,
                               const std::string& device) const;
    /// Returns one layer (--layer, or 0) for a script, or the whole model. Throws like run().
    exporting::ScriptPart script_part(bool whole_model, const std::vector<std::string>& gains,
                                      float temperature, const std::string& device) const;
    /// The input of commands that run the checkpoint themselves, possibly more than once.
    struct Opened {
        checkpoint::TextModelPtr text;
        checkpoint::ModelInputs inputs = {};     ///< empty for a command with its own tokens
        checkpoint::ForwardOptions options = {}; ///< the layer, stack, edits and temperature that were given
    };
    /// own_tokens: the command provides the tokens; Error(usage) if others were given. Throws likewise.
    Opened open(const std::vector<std::string>& gains, float temperature, bool own_tokens) const;
    /// The same for the weights alone: without inputs, even if tokens were given. Throws likewise.
    Opened open_weights(const std::vector<std::string>& gains, float temperature) const;
    /// Returns the attention of one layer (--layer, or 0) as a problem. Computes nothing after it and keeps
    /// no weights. check: called with B, Tq, Tk and H before anything is computed. Throws likewise.
    Problem problem_of_layer(const std::vector<std::string>& gains, float temperature,
                             const std::string& device, const std::function<void(const Dims&)>& check) const;
    /// "layer 0 of FOLDER", or "FOLDER"
    std::string title(bool whole_model = false) const;

private:
    void check_usage(const std::vector<std::string>& gains, bool own_tokens = false) const;
    void check_gains(const std::vector<std::string>& gains) const;
    /// Returns the edits of --patch, with the gains applied after them.
    checkpoint::ModelEdits read_edits(const checkpoint::Model& model,
                                      const std::vector<std::string>& gains) const;
    checkpoint::ForwardResult forward(const checkpoint::Model& model, const checkpoint::ModelInputs& inputs,
                                      const checkpoint::ForwardOptions& options,
                                      const std::string& device) const;
    checkpoint::ModelInputs read_inputs(const checkpoint::Model& model) const;
    checkpoint::ModelInputs read_text(const checkpoint::Model& model) const;

    std::optional<std::string> folder_, text_, text_path_, inputs_path_, patch_path_;
    SecondText second_;
    StackOption stack_;
    std::optional<std::vector<std::int64_t>> ids_;
    DecoderText decoder_;
    bool needs_stack_ = true;
    std::optional<std::int64_t> layer_;
};

/// Adds the options for what a model's files do not say: --base, the base of a LoRA adapter, and --heads.
/// Returns --base.
CLI::Option* add_base(CLI::App& command);
/// Adds the flag --ignore-unknown: opens models even if they have tensors that their family does not have.
/// Returns the option.
CLI::Option* add_ignore_unknown(CLI::App& command);

/// Returns the edits of a patch file and of gains such as "3.2=0"; a gain without a layer applies to `layer`.
/// Throws Error(input) with the gain or the file that does not fit the model.
checkpoint::ModelEdits read_model_edits(const checkpoint::Model& model,
                                        const std::optional<std::string>& patch,
                                        const std::vector<std::string>& gains, std::int64_t layer);

} // namespace headscope::cli
