#include "app/commands/block_operations.h"

#include "core/base/error.h"
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
    return is_owned(id) && tensor_info(id).rank() == 2;
}

void check_finite(float value, const char* what) {
    if (!std::isfinite(value))
        fail_input(std::string(what) + " must be a finite float32; type one such as 0.25");
}

void check_deviation(float deviation) {
    check_finite(deviation, "the standard deviation");
    if (deviation < 0)
        fail_input("the standard deviation is " + text_of(deviation) + "; it should be 0 or more");
}

/// New number from the old one, its row and its column in the block. In row-major order.
template<class New>
TensorPtr changed(const Tensor& tensor, const Block& block, New make) {
    check_inside(block, tensor);
    Tensor out(tensor.shape(), tensor.values());
    for (std::int64_t row = 0; row < block.rows; ++row)
        for (std::int64_t col = 0; col < block.cols; ++col) {
            float& value = out.data()[out.shape().offset(block.at(row, col))];
            value = make(value, row, col);
            if (!std::isfinite(value))
                fail_input("a number of " + std::string(tensor_info(block.tensor).name) +
                           " would leave float32's range; choose a smaller number");
        }
    return std::make_shared<const Tensor>(std::move(out));
}

TensorPtr randomised(const Tensor& tensor, const Block& block, const Randomise& r) {
    text::RandomNumbers numbers(r.seed);
    if (r.distribution == Distribution::normal) {
        check_deviation(r.deviation);
        return changed(tensor, block, [&](float, std::int64_t, std::int64_t) {
            return static_cast<float>(static_cast<double>(r.deviation) * numbers.normal());
        });
    }
    if (!is_weight(block.tensor))
        fail_input("Xavier takes its width from the inputs and outputs of a weight matrix, and " +
                   std::string(tensor_info(block.tensor).name) +
                   " is none; choose normal with a standard deviation");
    const auto fans = static_cast<double>(tensor.shape()[0] + tensor.shape()[1]);
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
        return Randomise{Distribution::normal, choice.deviation, choice.seed};
    case OperationKind::xavier_uniform:
        return Randomise{Distribution::xavier_uniform, 1, choice.seed};
    case OperationKind::xavier_normal:
        return Randomise{Distribution::xavier_normal, 1, choice.seed};
    case OperationKind::identity:
        return MakeIdentity{};
    }
    return std::nullopt;
}

std::string operation_name(const BlockOperation& operation) {
    const auto seeded = [](std::uint64_t seed) { return ", seed " + std::to_string(seed); };
    return std::visit(
        Overloaded{[](const SetTo& o) { return "set " + text_of(o.value); },
                   [](const ScaleBy& o) { return "scale by " + text_of(o.factor); },
                   [](const Zero&) { return std::string("zero"); },
                   [&](const AddNoise& o) { return "noise " + text_of(o.deviation) + seeded(o.seed); },
                   [&](const Randomise& o) {
                       const std::string name =
                           o.distribution == Distribution::normal           ? "normal " + text_of(o.deviation)
                           : o.distribution == Distribution::xavier_uniform ? "Xavier uniform"
                                                                            : "Xavier normal";
                       return name + seeded(o.seed);
                   },
                   [](const MakeIdentity&) { return std::string("identity"); }},
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
        fail_input("a block of " + std::to_string(block.rows) + " × " + std::to_string(block.cols) +
                   " numbers does not fit into " + std::string(info.name) + " of shape " +
                   tensor.shape().text() +
                   " at that place; choose a cell further up or left, or fewer numbers");
}

TensorPtr operated(const Tensor& tensor, const Block& block, const BlockOperation& operation) {
    using Offset = std::int64_t;
    return std::visit(
        Overloaded{
            [&](const SetTo& o) {
                check_finite(o.value, "the number to set");
                return changed(tensor, block, [&](float, Offset, Offset) { return o.value; });
            },
            [&](const ScaleBy& o) {
                check_finite(o.factor, "the factor");
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
            [&](const Randomise& o) { return randomised(tensor, block, o); },
            [&](const MakeIdentity&) {
                return changed(tensor, block,
                               [](float, Offset row, Offset col) { return row == col ? 1.0F : 0.0F; });
            }},
        operation);
}

TensorPtr with_values(const Tensor& tensor, const Block& block, std::span<const float> values) {
    if (static_cast<std::int64_t>(values.size()) != block.count())
        fail_input("there are " + std::to_string(values.size()) + " numbers for a block of " +
                   std::to_string(block.rows) + " × " + std::to_string(block.cols) +
                   "; give one number per cell");
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
