#pragma once

#include "core/hub/http.h"
#include "core/project/recipe.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headscope::app {

/// Start options of the program.
struct ProgramOptions {
    project::Recipe recipe = {};
    std::string device = "auto";
    /// Called from the worker's thread when a result is ready; may be empty.
    std::function<void()> wake = {};
    /// Folder for autosave, recent files and course progress; empty: none.
    std::filesystem::path state_folder = {};
    /// Reason why there is no such folder, one sentence, shown at the first edit. Empty: not shown.
    std::string no_state_folder_reason = {};
    std::vector<std::string> lesson_folders = {}; ///< in addition to the built-in lessons
    std::string language = "en";                  ///< language of the lessons
    /// Copies the bytes of a PNG to the desktop's clipboard. Throws Error(machine) if there is none. Empty:
    /// there is no desktop.
    std::function<void(std::string png)> offer_picture = {};
    /// Makes the client of a download, see HubJob. Empty: hub::CurlClient.
    std::function<std::unique_ptr<hub::HttpClient>()> hub_client = {};
};

} // namespace headscope::app
