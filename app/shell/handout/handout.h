#pragma once

#include "core/engine/engine.h"
#include "core/lesson/lesson.h"

#include <string>
#include <vector>

namespace headscope::app {

/// Returns the handout of a lesson: one HTML page without external resources, with the lesson's text, the
/// attention maps of its scenes and the arithmetic of every weight, the tables and the questions, and, on
/// paper, a worksheet and its solution. All numbers come from the engine. The page's words are in
/// language_in_use(). sentences: in addition to the lesson's own; empty: those that suit the preset. Throws
/// Error(input) for a scene that cannot be built, such as one with a sentence that is too long.
std::string handout_page(const lesson::Lesson& lesson, const std::vector<std::string>& sentences,
                         engine::Engine& engine);

} // namespace headscope::app
