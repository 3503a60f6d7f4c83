#include "core/format/torch/torch_globals.h"

#include <algorithm>
#include <array>

namespace headscope::format {

namespace {

constexpr std::string_view torch = "torch", utilities = "torch._utils", storages = "torch.storage";

constexpr TorchGlobal call(std::string_view module, std::string_view name, GlobalUse use) {
    return {module, name, use, {}, 0};
}

constexpr TorchGlobal type(std::string_view name, std::string_view dtype, std::uint64_t width,
                           std::string_view module = torch) {
    return {module, name, GlobalUse::number_type, dtype, width};
}

// The names are those that torch.save writes for tensors, and of the containers around them (torch/_utils.py,
// torch/storage.py and torch/serialization.py).
constexpr std::array torch_globals{call("collections", "OrderedDict", GlobalUse::dictionary),
                                   call("__builtin__", "set", GlobalUse::set),
                                   call("__builtin__", "frozenset", GlobalUse::set),
                                   call("builtins", "set", GlobalUse::set),
                                   call("builtins", "frozenset", GlobalUse::set),
                                   call(torch, "Size", GlobalUse::size),
                                   call(utilities, "_rebuild_tensor", GlobalUse::tensor),
                                   call(utilities, "_rebuild_tensor_v2", GlobalUse::tensor),
                                   call(utilities, "_rebuild_tensor_v3", GlobalUse::typed_tensor),
                                   call(utilities, "_rebuild_parameter", GlobalUse::parameter),
                                   call(utilities, "_rebuild_sparse_tensor", GlobalUse::sparse),
                                   call(utilities, "_rebuild_sparse_csr_tensor", GlobalUse::sparse),
                                   call(utilities, "_rebuild_qtensor", GlobalUse::quantized),
                                   call("torch.serialization", "_get_layout", GlobalUse::layout),
                                   call(torch, "per_tensor_affine", GlobalUse::constant),
                                   call(torch, "per_tensor_symmetric", GlobalUse::constant),
                                   call(torch, "per_channel_affine", GlobalUse::constant),
                                   call(torch, "per_channel_symmetric", GlobalUse::constant),
                                   call(torch, "per_channel_affine_float_qparams", GlobalUse::constant),
                                   type("FloatStorage", "F32", 4),
                                   type("HalfStorage", "F16", 2),
                                   type("BFloat16Storage", "BF16", 2),
                                   type("DoubleStorage", "F64", 8),
                                   type("LongStorage", "I64", 8),
                                   type("IntStorage", "I32", 4),
                                   type("ShortStorage", "I16", 2),
                                   type("CharStorage", "I8", 1),
                                   type("ByteStorage", "U8", 1),
                                   type("BoolStorage", "BOOL", 1),
                                   type("ComplexFloatStorage", "C64", 8),
                                   type("ComplexDoubleStorage", "complex128", 16),
                                   type("QInt8Storage", "qint8", 1),
                                   type("QUInt8Storage", "quint8", 1),
                                   type("QInt32Storage", "qint32", 4),
                                   type("QUInt4x2Storage", "quint4x2", 1),
                                   type("QUInt2x4Storage", "quint2x4", 1),
                                   type("UntypedStorage", "U8", 1),
                                   type("UntypedStorage", "U8", 1, storages),
                                   type("_UntypedStorage", "U8", 1, storages),
                                   type("TypedStorage", "U8", 1, storages),
                                   type("_TypedStorage", "U8", 1, storages),
                                   type("float32", "F32", 4),
                                   type("float16", "F16", 2),
                                   type("bfloat16", "BF16", 2),
                                   type("float64", "F64", 8),
                                   type("int64", "I64", 8),
                                   type("int32", "I32", 4),
                                   type("int16", "I16", 2),
                                   type("int8", "I8", 1),
                                   type("uint64", "U64", 8),
                                   type("uint32", "U32", 4),
                                   type("uint16", "U16", 2),
                                   type("uint8", "U8", 1),
                                   type("bool", "BOOL", 1),
                                   type("float8_e4m3fn", "F8_E4M3", 1),
                                   type("float8_e5m2", "F8_E5M2", 1),
                                   type("float8_e4m3fnuz", "F8_E4M3FNUZ", 1),
                                   type("float8_e5m2fnuz", "F8_E5M2FNUZ", 1),
                                   type("float8_e8m0fnu", "F8_E8M0", 1),
                                   type("complex64", "C64", 8),
                                   type("complex128", "complex128", 16)};

} // namespace

const TorchGlobal* find_torch_global(std::string_view module, std::string_view name) {
    const auto* const row = std::ranges::find_if(torch_globals, [&](const TorchGlobal& global) {
        return global.module == module && global.name == name;
    });
    return row == torch_globals.end() ? nullptr : &*row;
}

} // namespace headscope::format
