#pragma once

#include "core/lesson/formula.h"

#include <string>

namespace headscope::app::html {

/// A formula as MathML in display style.
std::string math(const lesson::Formula& formula);

} // namespace headscope::app::html
