#include "core/analysis/heads/eigenvalues.h"

#include <Eigen/Eigenvalues>

namespace headscope::analysis {

namespace {

using Square = Eigen::Map<const Eigen::MatrixXd>;

} // namespace

std::vector<std::complex<double>> eigenvalues(std::span<const double> matrix, std::int64_t n) {
    const Eigen::EigenSolver<Eigen::MatrixXd> solver(Square(matrix.data(), n, n), false);
    return {solver.eigenvalues().begin(), solver.eigenvalues().end()};
}

SymmetricEigen symmetric_eigen(std::span<const double> matrix, std::int64_t n) {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(Square(matrix.data(), n, n));
    return {.values{solver.eigenvalues().begin(), solver.eigenvalues().end()},
            .vectors{solver.eigenvectors().data(), solver.eigenvectors().data() + n * n}};
}

} // namespace headscope::analysis
