#include "core/figure/packaged_fonts.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <fontconfig/fontconfig.h>

#include <filesystem>
#include <mutex>

namespace headscope::figure {

namespace {

bool has_fonts(FcSetName set) {
    const FcFontSet* const fonts = FcConfigGetFonts(nullptr, set);
    return fonts != nullptr && fonts->nfont > 0;
}

} // namespace

void use_packaged_fonts() {
    static std::once_flag once;
    std::call_once(once, [] {
        std::error_code none;
        const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", none);
        const std::filesystem::path fonts = program.parent_path().parent_path() / "share/headscope/fonts";
        if (!program.empty() && std::filesystem::is_directory(fonts, none))
            FcConfigAppFontAddDir(nullptr, reinterpret_cast<const FcChar8*>(fonts.c_str()));
    });
    if (!has_fonts(FcSetSystem) && !has_fonts(FcSetApplication))
        throw Error(ErrorKind::machine,
                    tr("font_files.system_no_font_install",
                       "this system has no font: install one, for example the package fonts-dejavu-core"));
}

} // namespace headscope::figure
