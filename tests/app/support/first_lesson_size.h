#pragma once

#include <cstdint>

namespace headscope::test::first_lesson_size {

/// Sizes of the preset first-lesson with its own sentence.
inline constexpr std::int64_t T = 4, D = 8, H = 2, dk = D / H;

} // namespace headscope::test::first_lesson_size
