#pragma once

#include <cstdint>
#include <string_view>

namespace headscope::format {

/// The effect of a call of a global.
enum class GlobalUse : std::uint8_t {
    dictionary,   ///< makes a dictionary, empty or of a list of pairs
    set,          ///< makes a set, whose elements are not kept
    size,         ///< makes a tuple of one
    tensor,       ///< (storage, first number, shape, strides, ...)
    typed_tensor, ///< the same, with the number type as argument 6
    parameter,    ///< (tensor, ...)
    sparse,       ///< a tensor in a form that is not read
    quantized,    ///< the same
    layout,       ///< makes a constant of no use here
    number_type,  ///< no function: a class of storages, or a number type
    constant      ///< no function
};

/// A name that the pickle of a PyTorch file may refer to. None is ever run: the name stands for one of the
/// uses.
struct TorchGlobal {
    std::string_view module, name;
    GlobalUse use;
    std::string_view dtype; ///< number types: the name in safetensors, or PyTorch's where that has none
    std::uint64_t width;    ///< number types: bytes of one number
};

/// Null for every other name, which has to be refused.
const TorchGlobal* find_torch_global(std::string_view module, std::string_view name);

} // namespace headscope::format
