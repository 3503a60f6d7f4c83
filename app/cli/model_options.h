#pragma once

#include "core/checkpoint/model_inputs.h"
#include "core/io/trace_export.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace headscope {

/// The options of `trace` that run a checkpoint instead of one problem. Lives as long as the App that it was
/// added to.
class ModelOptions {
public:
    /// After ProblemOptions, which some of these exclude.
    void add_to(CLI::App& command);
    bool given() const { return folder_.has_value(); }
    /// Runs the model and writes the file. `wanted.stages` are kept of each layer. Throws Error(usage) when
    /// the options contradict each other, Error(input) when what they name is at fault.
    void run(const TraceExport& wanted, const std::string& device, const std::string& out) const;

private:
    void check_usage(const TraceExport& wanted) const;
    ModelInputs read_inputs(const ModelConfig& config) const;

    std::optional<std::string> folder_, text_, inputs_path_;
    std::optional<std::vector<std::int64_t>> ids_;
    std::optional<std::int64_t> layer_;
};

} // namespace headscope
