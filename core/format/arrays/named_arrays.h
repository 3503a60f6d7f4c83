#pragma once

#include "core/format/number_types.h"
#include "core/format/tensor_entry.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::format {

/// The arrays of one file in any of the formats that attention weights are opened from. Immutable; any thread
/// may read it.
class NamedArrays {
public:
    NamedArrays() = default;
    NamedArrays(const NamedArrays&) = delete;
    NamedArrays& operator=(const NamedArrays&) = delete;
    virtual ~NamedArrays() = default;

    /// The path.
    virtual const std::string& source() const = 0;
    /// All arrays, ordered by name; they live as long as this object.
    virtual std::vector<const TensorEntry*> entries() const = 0;
    /// Null if this program does not know the array's type.
    virtual const NumberType* number_type(const TensorEntry& entry) const = 0;

    // Each throws Error(input) with the array and the problem.
    /// Checks everything about an array of floats that reading its numbers relies on.
    virtual void require_floats(const TensorEntry& /*entry*/) const {}
    /// Reads `to.size()` numbers of an array of floats, from number `first` on. A float64 outside float32's
    /// range becomes an infinity.
    virtual void read_numbers(const TensorEntry& entry, std::uint64_t first, std::span<float> to) const = 0;
    /// All numbers of an array of integers or bools.
    virtual std::vector<std::int64_t> integers(const TensorEntry& entry) const = 0;

    /// A note that is stored with the arrays, such as "tokens", as JSON.
    virtual std::optional<std::string> note(std::string_view /*key*/) const { return std::nullopt; }
    /// The name of a note in messages.
    virtual std::string note_name(std::string_view key) const { return source() + ": " + std::string(key); }
    /// The names of the layers along the first axis of the only array; empty: 0, 1, 2, ...
    virtual std::vector<std::int64_t> layer_numbers() const { return {}; }
    /// The file's names of its heads if they are not layers and numbers, the first 8; may be empty.
    virtual std::string head_names() const { return {}; }

    /// Null if there is no such array.
    const TensorEntry* find(std::string_view name) const {
        for (const TensorEntry* entry : entries())
            if (entry->name == name)
                return entry;
        return nullptr;
    }
    bool holds_floats(const TensorEntry& entry) const {
        const NumberType* const type = number_type(entry);
        return type != nullptr && type->read_floats != nullptr;
    }
};
using NamedArraysPtr = std::shared_ptr<const NamedArrays>;

/// Opens a .npy, .npz or .safetensors file, or the JSON of CircuitsVis. The content decides the format; if it
/// matches none, the ending of the name decides which reader reports the error. Reads only headers, except
/// for JSON. Throws Error(input) with the path and the problem.
NamedArraysPtr open_named_arrays(const std::string& path);

} // namespace headscope::format
