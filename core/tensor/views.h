#pragma once

#include <Eigen/Core>
#include <iterator>
#include <span>

// Float32 numbers as Eigen matrices and arrays, without a copy: the owner of the numbers must outlive the
// view. For sources only: no other header includes Eigen.
namespace headscope {

/// Row-major, like a Tensor.
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
