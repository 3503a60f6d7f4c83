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
/// Adds numbers of a normal distribution with mean 0.
struct AddNoise {
    float deviation;
    std::uint64_t seed;
};
/// Mean 0. Xavier (Glorot and Bengio 2010) as torch.nn.init defines it with gain 1: a standard deviation of
/// sqrt(2 / (fan_in + fan_out)), uniform within sqrt(6 / (fan_in + fan_out)), where the fans are the extents
/// of the whole weight matrix.
enum class Distribution : std::uint8_t { normal, xavier_uniform, xavier_normal };
struct Randomise {
    Distribution distribution = Distribution::normal;
    float deviation = 1; ///< of `normal`
    std::uint64_t seed = 1;
};
/// 1 where row and column number inside the block are equal, else 0.
struct MakeIdentity {};

/// What can be done to a block of numbers at once. The same seed gives the same numbers on every machine.
using BlockOperation = std::variant<SetTo, ScaleBy, Zero, AddNoise, Randomise, MakeIdentity>;

/// The operation with the numbers that were chosen for it; nothing when none is.
std::optional<BlockOperation> operation_of(const OperationChoice& choice);

/// "zero W_Q[0, 1]", "scale by 0.5 W_O[0:2, 1]": how history names it with the block's text.
std::string operation_name(const BlockOperation& operation, const std::string& block);

/// Throws Error(input) naming the block and the tensor's shape when it does not lie inside.
void check_inside(const Block& block, const Tensor& tensor);

/// A copy of the tensor with the operation done to the block. Throws Error(input) when the block does not lie
/// inside, when a parameter is not finite (a deviation also when negative), when a result leaves float32's
/// range, and for Xavier on what is no weight matrix.
TensorPtr operated(const Tensor& tensor, const Block& block, const BlockOperation& operation);

/// A copy of the tensor with the block's numbers replaced, row by row. Throws Error(input) as above.
TensorPtr with_values(const Tensor& tensor, const Block& block, std::span<const float> values);

/// The block's numbers, row by row. It must lie inside.
std::vector<float> values_of(const Tensor& tensor, const Block& block);

} // namespace headscope::app
