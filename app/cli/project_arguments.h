#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace headscope::cli {

/// Adds --project to a command that only accepts checkpoints.
void add_project_option(CLI::App& command);

/// Returns the words of a command line with --project replaced by the model, the text and the edits of a
/// checkpoint's project. Options in the words take precedence. Words without such a project are returned
/// unchanged. Throws Error(input) if the file cannot be used or its model cannot be found.
std::vector<std::string> with_checkpoint_project(const CLI::App& program, std::vector<std::string> words);

} // namespace headscope::cli
