#pragma once

#include <Eigen/Core>
#include <iterator>
#include <span>

// Float32 numbers as Eigen's matrices and lists, where they lie: whoever owns the numbers outlives the view.
// For sources alone: Eigen shows in no header.
namespace headscope {

/// Row-major, as a Tensor is.
using RowMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstRows = Eigen::Map<const RowMatrix>;
using MutableRows = Eigen::Map<RowMatrix>;
using ConstRow = Eigen::Map<const Eigen::RowVectorXf>;
using MutableRow = Eigen::Map<Eigen::RowVectorXf>;
using ConstNumbers = Eigen::Map<const Eigen::ArrayXf>;
using MutableNumbers = Eigen::Map<Eigen::ArrayXf>;

inline ConstNumbers view_of(std::span<const float> numbers) {
    return {numbers.data(), std::ssize(numbers)};
}

} // namespace headscope
