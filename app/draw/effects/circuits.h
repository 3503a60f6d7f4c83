#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

// What the weights alone say of the open head: context.shown.circuits.

/// The canvas: tokens that the head promotes and looks for, and the heads that it composes with.
Picture draw_circuits_page(const DrawContext& context);
/// The inspector beside it: how much the head copies, and its strongest compositions.
Picture draw_circuits_inspector(const DrawContext& context);

} // namespace headscope::app
