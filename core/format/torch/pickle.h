#pragma once

#include "core/format/torch/torch_globals.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::format {

/// The number of a value in Pickle::values.
using PickleRef = std::uint32_t;

enum class PickleKind : std::uint8_t {
    other, ///< a value that no tensor depends on: None, a float, bytes, a large integer, a set
    boolean,
    integer,
    string,
    tuple,
    list,
    dictionary,
    global, ///< a name in find_torch_global()
    call,   ///< a tensor or a parameter, as a call of a global with a tuple of arguments
    storage ///< a reference to the numbers of a tensor, by a tuple
};

struct PickleValue {
    PickleKind kind = PickleKind::other;
    std::int64_t number = 0;             ///< boolean, integer
    const TorchGlobal* global = nullptr; ///< global, call
    /// A string; large integers: their bytes, the lowest first. Points into the bytes that were read.
    std::string_view text = {};
    /// The elements of a container, the keys and values of a dictionary in turn, or the tuple of a call or
    /// storage. A value may contain itself.
    std::vector<PickleRef> items = {};
};

/// The values that one pickle makes.
struct Pickle {
    std::vector<PickleValue> values;
    PickleRef root = 0;
    std::size_t bytes = 0; ///< length of the pickle
    const PickleValue& at(PickleRef ref) const { return values[ref]; }
};

/// Reads a pickle of protocol 1 to 5 at the beginning of `bytes`, which must outlive the result. Builds plain
/// containers and the tensors of PyTorch and runs nothing: a pickle that names any other global is refused
/// with that name. Without recursion, and in memory proportional to the length. Returns nullopt if the bytes
/// end before the pickle does. Throws Error(input) with `source` for an invalid or too large pickle.
/// Format: CPython's Lib/pickletools.py.
std::optional<Pickle> read_pickle(std::string_view bytes, const std::string& source);

} // namespace headscope::format
