#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace headscope::app {

/// The small picture of a lesson: matrices of its own view, such as the weights of its heads.
struct LessonPicture {
    struct Matrix {
        int rows = 0, columns = 0;
        std::int64_t head = -1;      ///< whose colors it has; -1: no head
        bool diverging = false;      ///< the middle of the colors is zero
        std::vector<float> shades{}; ///< rows x columns, each from 0 to 1 on the color map
    };
    std::vector<Matrix> matrices; ///< 1 to 8
    std::int64_t heads = 1;       ///< of the problem
    int row = -1;                 ///< the row that the view points at; -1: none
};
using LessonPicturePtr = std::shared_ptr<const LessonPicture>;

} // namespace headscope::app
