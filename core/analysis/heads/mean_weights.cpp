#include "core/analysis/heads/mean_weights.h"

#include "core/tensor/views.h"

#include <algorithm>

namespace headscope::analysis {

MeanWeights::MeanWeights(std::int64_t Tq, std::int64_t Tk)
    : Tq_(Tq), Tk_(Tk), sums_(static_cast<std::size_t>(Tq * Tk)), counted_(static_cast<std::size_t>(Tq)) {}

void MeanWeights::add(std::span<const float> head) {
    for (std::int64_t i = 0; i < Tq_; ++i) {
        const ConstNumbers row(head.data() + i * Tk_, Tk_);
        if ((row == 0.0F).all())
            continue;
        Eigen::Map<Eigen::ArrayXd>(sums_.data() + i * Tk_, Tk_) += row.cast<double>();
        ++counted_[static_cast<std::size_t>(i)];
    }
}

void MeanWeights::write(std::span<float> to) const {
    for (std::int64_t i = 0; i < Tq_; ++i) {
        const auto count =
            static_cast<double>(std::max<std::int64_t>(counted_[static_cast<std::size_t>(i)], 1));
        MutableNumbers(to.data() + i * Tk_, Tk_) =
            (Eigen::Map<const Eigen::ArrayXd>(sums_.data() + i * Tk_, Tk_) / count).cast<float>();
    }
}

} // namespace headscope::analysis
