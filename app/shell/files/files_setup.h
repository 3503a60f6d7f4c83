#pragma once

#include "app/shell/program_options.h"

#include <filesystem>
#include <functional>
#include <string>

namespace headscope::app {

/// The folders, the callbacks and the options that the window gives to Files.
struct FilesSetup {
    /// Folder of the autosaved project and the list of recent files; empty: none.
    std::filesystem::path state_folder;
    std::string no_state_folder_reason = {};                            ///< see ProgramOptions
    std::function<void()> wake;                                         ///< see ProgramOptions
    std::function<void(const std::string& path)> show_lesson;           ///< opens a file; throws Error(input)
    std::function<void(const std::string& name)> compare_with_unedited; ///< A gets the name; shows B − A
    std::function<void()> leave_lesson; ///< closes an open lesson and shows the user's own document
    std::function<void(std::string png)> offer_picture = {}; ///< see ProgramOptions
    ProgramOptions film = {}; ///< for the program that renders films: the same device and lessons
};

} // namespace headscope::app
