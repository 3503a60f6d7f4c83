#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

// The circuits of the open head, from its parameters alone: context.shown.circuits.

/// The canvas: the tokens that the head promotes and attends to, and its composition with other heads.
Picture draw_circuits_page(const DrawContext& context);
/// The inspector: how much the head copies, and its strongest compositions.
Picture draw_circuits_inspector(const DrawContext& context);

} // namespace headscope::app
