#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

// Eigenvalues of matrices of doubles, (n, n), column by column. In a source of their own: Eigen's solvers
// take GCC twice as long between other sources.
namespace headscope::analysis {

/// The n eigenvalues of a matrix of finite numbers, in no order.
std::vector<std::complex<double>> eigenvalues(std::span<const double> matrix, std::int64_t n);

struct SymmetricEigen {
    std::vector<double> values;  ///< (n), ascending
    std::vector<double> vectors; ///< (n, n): column k has length 1 and belongs to values[k]
};

/// Of a symmetric matrix of finite numbers, of which the lower triangle is read.
SymmetricEigen symmetric_eigen(std::span<const double> matrix, std::int64_t n);

} // namespace headscope::analysis
