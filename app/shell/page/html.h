#pragma once

#include "core/figure/scene.h"

#include <map>
#include <string>
#include <string_view>

namespace headscope::app::html {

/// Escapes text for HTML, including attribute values. Control characters and invalid bytes become U+FFFD.
std::string escaped(std::string_view text);

/// Base64 according to RFC 4648.
std::string base64(std::string_view bytes);

/// The color as #rrggbb, without its opacity.
std::string css(figure::Color color);

/// A table in a box that scrolls sideways, also with the keyboard.
std::string scrolling(const std::string& table);

/// Returns the template with each {{name}} replaced. Throws std::out_of_range for a name without a value.
std::string filled(std::string_view page, const std::map<std::string, std::string>& values);

} // namespace headscope::app::html
