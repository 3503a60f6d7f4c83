#pragma once

#include "app/state/block.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <span>
#include <string>
#include <variant>

namespace headscope::app {

struct SetTo {
    float value;
};
struct ScaleBy {
    float factor;
};
struct Zero {};
/// Adds numbers drawn from a normal distribution with mean 0.
struct AddNoise {
    float deviation;
    std::uint64_t seed;
};
/// Mean 0. Xavier (Glorot and Bengio 2010) as in torch.nn.init with gain 1: a standard deviation of sqrt(2 /
/// (fan_in + fan_out)), or uniform within sqrt(6 / (fan_in + fan_out)), where the fans are the sizes of the
/// whole weight matrix.
enum class Distribution : std::uint8_t { normal, xavier_uniform, xavier_normal };
struct Randomize {
    Distribution distribution = Distribution::normal;
    float deviation = 1; ///< for `normal`
    std::uint64_t seed = 1;
};
/// 1 where the row and column indices within the block are equal, else 0.
struct MakeIdentity {};

/// An operation on a block of numbers. The same seed gives the same numbers on every machine.
using BlockOperation = std::variant<SetTo, ScaleBy, Zero, AddNoise, Randomize, MakeIdentity>;

/// Returns the chosen operation with its parameters; nothing if none is chosen.
std::optional<BlockOperation> operation_of(const OperationChoice& choice);

/// Returns the label of the history entry: "zero W_Q[0, 1]", "scale by 0.5 W_O[0:2, 1]".
std::string operation_name(const BlockOperation& operation, const std::string& block);

/// Throws Error(input), with the block and the tensor's shape, if the block is not inside the tensor.
void check_inside(const Block& block, const Tensor& tensor);

/// Returns a copy of the tensor with the operation applied to the block. Throws Error(input) if the block is
/// not inside, if a parameter is not finite (for a deviation also if negative), if a result exceeds the range
/// of float32, and for Xavier on anything but a weight matrix.
TensorPtr with_operation(const Tensor& tensor, const Block& block, const BlockOperation& operation);

/// A copy of the tensor with the block's numbers replaced, row by row. Throws Error(input) as above.
TensorPtr with_values(const Tensor& tensor, const Block& block, std::span<const float> values);

/// Returns the block's numbers, row by row. The block must be inside the tensor.
std::vector<float> values_of(const Tensor& tensor, const Block& block);

} // namespace headscope::app
