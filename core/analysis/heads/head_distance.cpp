#include "core/analysis/heads/head_distance.h"

#include "core/analysis/heads/eigenvalues.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace headscope::analysis {

namespace {

using RowArray = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr float kept = 0.999F; ///< of a row when it is smoothed
constexpr double most_terms = 4e8, most_numbers = 3.2e7;

/// As many rows as can be compared in about a second and kept in 128 MB; at least one.
std::int64_t compared_rows(std::int64_t heads, std::int64_t Tq, std::int64_t Tk) {
    const auto n = static_cast<double>(heads), width = static_cast<double>(Tk);
    const double most = std::min(most_terms / (n * n / 2 * width), most_numbers / (n * width));
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(most), 1, Tq);
}

double entropy(const RowArray& p) {
    return -static_cast<double>((p * p.log()).sum());
}

} // namespace

HeadDistances head_distances(const AttentionSet& set, Progress& progress) {
    const AttentionInfo& info = set.info();
    const std::int64_t L = info.own_layers(), H = info.own_heads(), n = L * H;
    HeadDistances out{.rows = compared_rows(n, info.Tq, info.Tk),
                      .of = info.Tq,
                      .heads = n,
                      .between = std::vector<double>(static_cast<std::size_t>(n * n))};
    Eigen::Map<Eigen::MatrixXd> between(out.between.data(), n, n);
    std::vector<RowArray> heads;
    std::vector<double> entropies;
    for (std::int64_t at = 0; at < n; ++at) {
        progress.check();
        progress.report(0.3F * static_cast<float>(at) / static_cast<float>(n));
        RowArray& rows = heads.emplace_back(out.rows, info.Tk);
        rows.setZero();
        for (std::int64_t r = 0; info.has_weights(at / H) && r < out.rows;
             ++r) // the last row of each part, which reads most keys
            set.read_part(at / H, at % H, {(r + 1) * info.Tq / out.rows - 1, 0, 1, info.Tk},
                          {rows.row(r).data(), static_cast<std::size_t>(info.Tk)});
        rows = rows.isFinite().select(rows.max(0.0F), 0.0F);
        rows = kept * rows + (1 - kept) / static_cast<float>(info.Tk);
        entropies.push_back(entropy(rows));
    }
    for (std::int64_t a = 0; a < n; ++a) {
        progress.check();
        progress.report(0.3F + 0.7F * static_cast<float>(a) / static_cast<float>(n));
        for (std::int64_t b = 0; b < a; ++b) {
            const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
            const double mixed = entropy((heads[i] + heads[j]) / 2);
            between(a, b) = between(b, a) = std::max(0.0, mixed - (entropies[i] + entropies[j]) / 2);
        }
    }
    return out;
}

std::vector<std::array<double, 2>> scaled_to_plane(const HeadDistances& distances) {
    const Eigen::Index n = distances.heads;
    std::vector<std::array<double, 2>> places(static_cast<std::size_t>(n));
    if (n < 2)
        return places;
    const Eigen::MatrixXd squares =
        Eigen::Map<const Eigen::MatrixXd>(distances.between.data(), n, n).array().square();
    const Eigen::RowVectorXd columns = squares.colwise().mean();
    const Eigen::VectorXd rows = squares.rowwise().mean();
    Eigen::MatrixXd products = -0.5 * squares;
    products.rowwise() += 0.5 * columns;
    products.colwise() += 0.5 * rows;
    products.array() -= 0.5 * squares.mean();
    const SymmetricEigen eigen =
        symmetric_eigen({products.data(), static_cast<std::size_t>(products.size())}, n);
    for (Eigen::Index axis = 0; axis < 2; ++axis) {
        const Eigen::Index at = n - 1 - axis; // the largest eigenvalue is the last
        const double length = std::sqrt(std::max(0.0, eigen.values[static_cast<std::size_t>(at)]));
        Eigen::VectorXd place = length * Eigen::Map<const Eigen::VectorXd>(eigen.vectors.data() + at * n, n);
        Eigen::Index farthest = 0;
        place.cwiseAbs().maxCoeff(&farthest);
        if (place(farthest) < 0)
            place = -place;
        for (Eigen::Index head = 0; head < n; ++head)
            places[static_cast<std::size_t>(head)][static_cast<std::size_t>(axis)] = place(head);
    }
    return places;
}

} // namespace headscope::analysis
