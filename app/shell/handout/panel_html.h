#pragma once

#include "core/lesson/panel_figure.h"

#include <string>

namespace headscope::app {

/// The numbers of a panel as an HTML table; empty for a panel whose point is to be moved.
std::string panel_table(const lesson::PanelFigure& figure);

} // namespace headscope::app
