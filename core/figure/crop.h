#pragma once

#include "core/figure/scene.h"

namespace headscope::figure {

/// The part of a scene that its content covers, with the same margin on all four sides. Items in the
/// background's color are not content. A horizontal line across the whole scene is a divider: it is shortened
/// to the width of the content. A scene without content is unchanged.
Scene cropped(const Scene& scene, const TextMeasure& measure, Color background, float margin);

} // namespace headscope::figure
