#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace headscope::graph::ops {

namespace {

/// The bucket of a distance, key - query. Small distances have a bucket each; larger ones share buckets that
/// grow with the logarithm of the distance (Raffel et al. 2020, section 2.1).
std::int64_t bucket_of(const DistanceBias& bias, std::int64_t buckets, std::int64_t distance) {
    const std::int64_t half = bias.both_sides ? buckets / 2 : buckets;
    const std::int64_t first = bias.both_sides && distance > 0 ? half : 0;
    const std::int64_t away = bias.both_sides ? std::abs(distance) : std::max<std::int64_t>(0, -distance);
    const std::int64_t near = half / 2; // distances with a bucket of their own
    if (away < near)
        return first + away;
    // Float32 and this order, as in training: at the edges of buckets, rounding decides.
    const float grown =
        std::log(static_cast<float>(away) / static_cast<float>(near)) /
        static_cast<float>(std::log(static_cast<double>(bias.furthest) / static_cast<double>(near))) *
        static_cast<float>(half - near);
    return first + std::min(half - 1, near + static_cast<std::int64_t>(grown));
}

/// Input: table (buckets, H). A learned bias for each head and distance of query and key, (H, Tq, Tk), which
/// is added to the scores.
class DistanceBiasOperation final : public Operation {
public:
    std::string_view name() const override { return "distance_bias"; }
    Page page(Step) const override { return Page::maps; }

    Axes axes(const Call& call) const override {
        expect_rank(call, 0, 2);
        const auto& bias = call.as<DistanceBias>();
        return {{"H", call.axes_of(0).size(1)}, {"Tq", bias.queries}, {"Tk", bias.keys}};
    }

    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        return {one_cell(0, table_cell(call, at))};
    }
    std::string formula(const Call&, const Names& names) const override {
        return names.out + "[h] = " + names.in[0] + "[bucket(j − i), h]";
    }
    Arithmetic explain(const Call& call, const Index& at) const override {
        return Arithmetic::of(factor(call, 0, table_cell(call, at)));
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        const auto& bias = call.as<DistanceBias>();
        std::string buckets;
        for (std::int64_t distance = -(bias.keys - 1); distance <= bias.keys - 1; ++distance)
            buckets += (buckets.empty() ? "" : ", ") +
                       std::to_string(bucket_of(bias, call.axes_of(0).size(0), distance));
        const std::string aligned = bias.keys == bias.queries ? "" : " - (Tk - Tq)";
        return "# The bucket of each distance from -(Tk - 1) to Tk - 1 (Raffel et al. 2020, section 2.1).\n"
               "buckets = torch.tensor([" +
               buckets + "])\ndistances = torch.arange(Tk) - torch.arange(Tq).reshape(-1, 1)" + aligned +
               "\n" + names.out + " = " + names.in[0] + "[buckets[distances + Tk - 1]].permute(2, 0, 1)\n";
    }

    double cell(const Call& call, const Index& at) const override {
        return call.in[0].at(table_cell(call, at));
    }
    bool is_linear_in(const Call&, std::size_t) const override { return true; }
    double coefficient(const Call&, const Index&, std::size_t, const Index&) const override { return 1; }

protected:
    double multiply_adds_per_cell(const Call&) const override { return 0; }

private:
    static Index table_cell(const Call& call, const Index& at) {
        const auto& bias = call.as<DistanceBias>();
        const std::int64_t query = at[1] + bias.keys - bias.queries; // its position among the keys
        return {bucket_of(bias, call.axes_of(0).size(0), at[2] - query), at[0]};
    }
};

} // namespace

const Operation& distance_bias() {
    static const DistanceBiasOperation operation;
    return operation;
}

} // namespace headscope::graph::ops
