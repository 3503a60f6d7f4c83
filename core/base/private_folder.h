#pragma once

#include <filesystem>

namespace headscope {

/// The path of a folder that belongs to this user alone, below the system's temporary folder. The folder may
/// not exist. Empty if the system has no temporary folder.
std::filesystem::path private_temporary_path();

/// Creates that folder if it does not exist. Returns false if it cannot be created, or if another user owns
/// it or may write to it and could therefore have put files there.
bool make_private_temporary_folder();

} // namespace headscope
