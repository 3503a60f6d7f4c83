#include "core/base/error.h"
#include "core/base/message.h"
#include "core/figure/figure.h"

#include <algorithm>

namespace headscope::figure {

FigureFormat figure_format(const std::string& path) {
    const std::size_t dot = path.find_last_of("./");
    std::string ending = dot == std::string::npos || path[dot] == '/' ? "" : path.substr(dot);
    std::ranges::transform(ending, ending.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    if (ending == ".png")
        return FigureFormat::png;
    if (ending == ".svg")
        return FigureFormat::svg;
    if (ending == ".pdf")
        return FigureFormat::pdf;
    fail_input(ending.empty()
                   ? tr("figure.picture_file_no_ending",
                        "the picture file {} has no ending: its name must end in .png, .svg or .pdf", path)
                   : tr("figure.picture_file_ends_name",
                        "the picture file {} ends in {}: its name must end in .png, .svg or .pdf", path,
                        ending));
}

} // namespace headscope::figure
