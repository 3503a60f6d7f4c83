#pragma once

namespace headscope::figure {

/// Adds the fonts that lie beside the program (../share/headscope/fonts), if any, to those that Fontconfig
/// knows in this process. Call it before text is measured or drawn; calls after the first do nothing. From
/// any thread.
void use_packaged_fonts();

} // namespace headscope::figure
