#pragma once

#include "core/attention/problem.h"

#include <cmath>
#include <vector>

namespace headscope::testing {

using namespace headscope::text;

using Rows = std::vector<std::vector<double>>;

/// Returns softmax(q k^T / sqrt(dk)) of one head of an unmasked problem, in double precision, from the
/// definition.
inline Rows weights_of(const Problem& problem, std::int64_t h) {
    const Dims& n = problem.dims;
    const auto project = [&](const Tensor& x, const Tensor& W) {
        Rows out;
        for (std::int64_t t = 0; t < x.shape()[1]; ++t) {
            out.emplace_back();
            for (std::int64_t d = 0; d < n.dk; ++d) {
                double sum = 0;
                for (std::int64_t i = 0; i < x.shape()[2]; ++i)
                    sum += static_cast<double>(x.at(0, t, i)) * static_cast<double>(W.at(i, h * n.dk + d));
                out.back().push_back(sum);
            }
        }
        return out;
    };
    const Rows q = project(*problem.x, *problem.weights.W_Q),
               k = project(problem.cross() ? *problem.x_kv : *problem.x, *problem.weights.W_K);
    Rows rows;
    for (const auto& query : q) {
        std::vector<double> row;
        double largest = -INFINITY;
        for (const auto& key : k) {
            double dot = 0;
            for (std::size_t d = 0; d < key.size(); ++d)
                dot += query[d] * key[d];
            row.push_back(dot / std::sqrt(static_cast<double>(n.dk)));
            largest = std::max(largest, row.back());
        }
        double sum = 0;
        for (double& score : row)
            sum += score = std::exp(score - largest);
        for (double& weight : row)
            weight /= sum;
        rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace headscope::testing
