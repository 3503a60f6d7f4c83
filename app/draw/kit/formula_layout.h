#pragma once

#include "app/draw/kit/picture.h"
#include "core/lesson/formula.h"

namespace headscope::app {

/// A formula ready to draw: the baseline of its scene is y = 0, its left end x = 0.
struct FormulaBox {
    figure::Scene scene;
    float width = 0, ascent = 0, descent = 0; ///< descent is positive
};

/// Lays out a formula at a text size in logical pixels.
FormulaBox set_formula(const lesson::Formula& formula, const DrawContext& context, float size,
                       figure::Color color);

} // namespace headscope::app
