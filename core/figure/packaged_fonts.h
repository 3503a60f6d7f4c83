#pragma once

namespace headscope::figure {

/// Adds the fonts that are installed with the program (../share/headscope/fonts), if any, to this process's
/// Fontconfig. Call it before text is measured or drawn; only the first call has an effect. Any thread.
/// Throws Error(machine) if neither they nor the system have a font.
void use_packaged_fonts();

} // namespace headscope::figure
