#include "app/commands/block_operations.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"
#include "core/text/random_numbers.h"

#include <array>
#include <charconv>
#include <cmath>

namespace headscope::app {

namespace {

std::string text_of(float value) {
    std::array<char, 32> digits{};
    std::string text(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
    if (text.starts_with('-'))
        text.replace(0, 1, "−");
    return text;
}

bool is_weight(TensorId id) {
    const TensorInfo& info = tensor_info(id);
    return is_owned(id) && info.rank() == (info.axes[0] == Axis::experts ? 3 : 2);
}

void check_finite(float value, const std::string& fault) {
    if (!std::isfinite(value))
        fail_input(fault);
}

void check_deviation(float deviation) {
    check_finite(deviation, tr("block_operations.standard_deviation_must",
                               "the standard deviation must be a finite float32; type one such as 0.25"));
    if (deviation < 0)
        fail_input(tr("block_operations.standard_deviation",
                      "the standard deviation is {}; it must be 0 or more", text_of(deviation)));
}

/// Computes each new number from the old one, its row and its column in the block, in row-major order.
template<class New>
TensorPtr changed(const Tensor& tensor, const Block& block, New make) {
    check_inside(block, tensor);
    Tensor out(tensor.shape(), tensor.values());
    for (std::int64_t row = 0; row < block.rows; ++row)
        for (std::int64_t col = 0; col < block.cols; ++col) {
            float& value = out.data()[out.shape().offset(block.at(row, col))];
            value = make(value, row, col);
            if (!std::isfinite(value))
                fail_input(tr("block_operations.number_would_leave",
                              "a number of {} would exceed the range of float32; choose a smaller number",
                              tensor_info(block.tensor).name));
        }
    return std::make_shared<const Tensor>(std::move(out));
}

TensorPtr randomised(const Tensor& tensor, const Block& block, const Randomize& r) {
    text::RandomNumbers numbers(r.seed);
    if (r.distribution == Distribution::normal) {
        check_deviation(r.deviation);
        return changed(tensor, block, [&](float, std::int64_t, std::int64_t) {
            return static_cast<float>(static_cast<double>(r.deviation) * numbers.normal());
        });
    }
    if (!is_weight(block.tensor))
        fail_input(tr("block_operations.xavier_takes_width",
                      "Xavier takes its width from the inputs and outputs of a weight matrix, which {} is "
                      "not; choose normal with a standard deviation",
                      tensor_info(block.tensor).name));
    const auto fans = static_cast<double>(tensor.shape().back(0) + tensor.shape().back(1));
    if (r.distribution == Distribution::xavier_normal) {
        const double deviation = std::sqrt(2.0 / fans);
        return changed(tensor, block, [&](float, std::int64_t, std::int64_t) {
            return static_cast<float>(deviation * numbers.normal());
        });
    }
    const auto limit = static_cast<float>(std::sqrt(6.0 / fans));
    return changed(tensor, block,
                   [&](float, std::int64_t, std::int64_t) { return limit * numbers.uniform(); });
}

} // namespace

std::optional<BlockOperation> operation_of(const OperationChoice& choice) {
    switch (choice.kind) {
    case OperationKind::none:
        return std::nullopt;
    case OperationKind::set:
        return SetTo{choice.value};
    case OperationKind::scale:
        return ScaleBy{choice.factor};
    case OperationKind::zero:
        return Zero{};
    case OperationKind::noise:
        return AddNoise{choice.deviation, choice.seed};
    case OperationKind::normal:
        return Randomize{Distribution::normal, choice.deviation, choice.seed};
    case OperationKind::xavier_uniform:
        return Randomize{Distribution::xavier_uniform, 1, choice.seed};
    case OperationKind::xavier_normal:
        return Randomize{Distribution::xavier_normal, 1, choice.seed};
    case OperationKind::identity:
        return MakeIdentity{};
    }
    return std::nullopt;
}

std::string operation_name(const BlockOperation& operation, const std::string& block) {
    return std::visit(
        // Translators: a step of the history; the last {} are the numbers that changed: "set 0.5 W_Q[0:2, 1]"
        Overloaded{
            [&](const SetTo& o) { return tr("block_operations.set", "set {} {}", text_of(o.value), block); },
            [&](const ScaleBy& o) {
                return tr("block_operations.scale", "scale by {} {}", text_of(o.factor), block);
            },
            [&](const Zero&) { return tr("block_operations.zero", "zero {}", block); },
            [&](const AddNoise& o) {
                return tr("block_operations.noise_seed", "noise {}, seed {} {}", text_of(o.deviation), o.seed,
                          block);
            },
            [&](const Randomize& o) {
                return o.distribution == Distribution::normal
                           ? tr("block_operations.normal_seed", "normal {}, seed {} {}", text_of(o.deviation),
                                o.seed, block)
                       : o.distribution == Distribution::xavier_uniform
                           ? tr("block_operations.xavier_uniform_seed", "Xavier uniform, seed {} {}", o.seed,
                                block)
                           : tr("block_operations.xavier_normal_seed", "Xavier normal, seed {} {}", o.seed,
                                block);
            },
            [&](const MakeIdentity&) { return tr("block_operations.identity", "identity {}", block); }},
        operation);
}

void check_inside(const Block& block, const Tensor& tensor) {
    const TensorInfo& info = tensor_info(block.tensor);
    bool inside = tensor.shape().rank() == info.rank() && block.rows >= 1 && block.cols >= 1;
    for (int axis = 0; inside && axis < info.rank(); ++axis) {
        const std::int64_t begin = block.first[static_cast<std::size_t>(axis)];
        const std::int64_t extent = axis == row_axis(block.tensor)   ? block.rows
                                    : axis == col_axis(block.tensor) ? block.cols
                                                                     : 1;
        inside = begin >= 0 && extent <= tensor.shape()[axis] && begin <= tensor.shape()[axis] - extent;
    }
    if (inside && row_axis(block.tensor) < 0)
        inside = block.rows == 1;
    if (!inside)
        fail_input(tr("block_operations.block_numbers_not_fit",
                      "a block of {} × {} numbers does not fit into {} of shape {} at that place; choose a "
                      "cell further up or left, or fewer numbers",
                      block.rows, block.cols, info.name, tensor.shape().text()));
}

TensorPtr with_operation(const Tensor& tensor, const Block& block, const BlockOperation& operation) {
    using Offset = std::int64_t;
    return std::visit(
        Overloaded{
            [&](const SetTo& o) {
                check_finite(o.value,
                             tr("block_operations.number_set_must_finite",
                                "the number to set must be a finite float32; type one such as 0.25"));
                return changed(tensor, block, [&](float, Offset, Offset) { return o.value; });
            },
            [&](const ScaleBy& o) {
                check_finite(o.factor, tr("block_operations.factor_must_finite",
                                          "the factor must be a finite float32; type one such as 0.25"));
                return changed(tensor, block, [&](float v, Offset, Offset) { return v * o.factor; });
            },
            [&](const Zero&) { return changed(tensor, block, [](float, Offset, Offset) { return 0.0F; }); },
            [&](const AddNoise& o) {
                check_deviation(o.deviation);
                text::RandomNumbers numbers(o.seed);
                return changed(tensor, block, [&](float v, Offset, Offset) {
                    return v + static_cast<float>(static_cast<double>(o.deviation) * numbers.normal());
                });
            },
            [&](const Randomize& o) { return randomised(tensor, block, o); },
            [&](const MakeIdentity&) {
                return changed(tensor, block,
                               [](float, Offset row, Offset col) { return row == col ? 1.0F : 0.0F; });
            }},
        operation);
}

TensorPtr with_values(const Tensor& tensor, const Block& block, std::span<const float> values) {
    if (static_cast<std::int64_t>(values.size()) != block.count())
        fail_input(tr_n("block_operations.number_block_give_one",
                        "there is {} number for a block of {} × {}; give one number per cell",
                        "there are {} numbers for a block of {} × {}; give one number per cell",
                        std::ssize(values), values.size(), block.rows, block.cols));
    auto next = values.begin();
    return changed(tensor, block, [&](float, std::int64_t, std::int64_t) { return *next++; });
}

std::vector<float> values_of(const Tensor& tensor, const Block& block) {
    std::vector<float> values;
    values.reserve(static_cast<std::size_t>(block.count()));
    for (std::int64_t row = 0; row < block.rows; ++row)
        for (std::int64_t col = 0; col < block.cols; ++col)
            values.push_back(tensor.data()[tensor.shape().offset(block.at(row, col))]);
    return values;
}

} // namespace headscope::app
