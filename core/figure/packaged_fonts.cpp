#include "core/figure/packaged_fonts.h"

#include <fontconfig/fontconfig.h>

#include <filesystem>
#include <mutex>

namespace headscope::figure {

void use_packaged_fonts() {
    static std::once_flag once;
    std::call_once(once, [] {
        std::error_code none;
        const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", none);
        const std::filesystem::path fonts = program.parent_path().parent_path() / "share/headscope/fonts";
        if (!program.empty() && std::filesystem::is_directory(fonts, none))
            FcConfigAppFontAddDir(nullptr, reinterpret_cast<const FcChar8*>(fonts.c_str()));
    });
}

} // namespace headscope::figure
