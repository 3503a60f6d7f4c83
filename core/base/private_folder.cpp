#include "core/base/private_folder.h"

#include <cerrno>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace headscope {

namespace fs = std::filesystem;

fs::path private_temporary_path() {
    std::error_code fault;
    const fs::path folder = fs::temp_directory_path(fault);
    return fault ? fs::path() : folder / ("headscope-" + std::to_string(::geteuid()));
}

bool make_private_temporary_folder() {
    const fs::path folder = private_temporary_path();
    constexpr mode_t owner_alone = 0700, others = 077;
    if (folder.empty() || (::mkdir(folder.c_str(), owner_alone) != 0 && errno != EEXIST))
        return false;
    struct stat status {};
    return ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
           (status.st_mode & others) == 0;
}

} // namespace headscope
