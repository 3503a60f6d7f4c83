#pragma once

#include "core/project/recipe.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace headscope::app {

/// What the program starts with.
struct ProgramOptions {
    project::Recipe recipe = {};
    std::string device = "auto";
    /// Called from the worker's thread when a result waits; may be empty.
    std::function<void()> wake = {};
    /// Where work is kept safe, recent files are listed and progress in the course is kept; empty: nowhere.
    std::filesystem::path state_folder = {};
    /// Why there is no such folder, one sentence: said as soon as there is an edit to keep. Empty: not said.
    std::string keeps_nothing = {};
    std::vector<std::string> lesson_folders = {}; ///< with lessons beside the program's own
    std::string language = "en";                  ///< of the lessons
    /// Takes the bytes of a PNG for the desktop's clipboard. Throws Error(machine) where there is none.
    /// Empty: there is no desktop.
    std::function<void(std::string png)> offer_picture = {};
};

} // namespace headscope::app
