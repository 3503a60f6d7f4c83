#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace headscope::cli {

/// Adds --project to a command that reads checkpoints alone.
void add_project_option(CLI::App& command);

/// The words of a command line, with the model, the text and the edits of a checkpoint's project in the place
/// of --project. What stands in the words themselves wins. Words without such a project are left as they are.
/// Throws Error(input) for a file that cannot be used, and when its model is nowhere.
std::vector<std::string> with_checkpoint_project(const CLI::App& program, std::vector<std::string> words);

} // namespace headscope::cli
