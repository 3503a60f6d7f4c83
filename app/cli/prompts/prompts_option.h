#pragma once

#include "core/analysis/prompts/prompt_set.h"
#include "core/checkpoint/model/model.h"

#include <initializer_list>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace headscope::cli {

/// The option --prompts: a file of prompts, in place of a single one.
class PromptsOption {
public:
    /// fields: the fields that the command reads, for the help text. single: the options of a single prompt,
    /// which exclude this one; all of them exist.
    void add_to(CLI::App& command, const std::string& fields, std::initializer_list<const char*> single);
    bool given() const { return path_.has_value(); }
    const std::string& path() const { return *path_; }

private:
    std::optional<std::string> path_;
};

/// Checks the ending of the output file of a set. Throws Error(input) unless it is .json, .csv, .safetensors
/// or "-", and Error(usage) if `json` was given with another format.
void check_set_output(const std::string& out, bool json);

/// Returns a text that differs if the results of a set may differ: the values of the command's options, the
/// edits of --patch, and the identity of the model with its path and the times at which its files were
/// written; of an adapter also those of its base. Where the results are written does not matter. Throws
/// Error(input) if the file of --patch cannot be read.
std::string computation_text(const CLI::App& command, const checkpoint::Model& model);

/// Returns true if a run of the model leaves cores idle, so that several prompts are computed at once.
bool is_small(const checkpoint::Model& model);

} // namespace headscope::cli
