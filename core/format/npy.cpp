#include "core/format/npy.h"

#include "core/format/npy_header.h"

namespace headscope::format {

std::string npy_bytes(const Tensor& tensor) {
    std::string shape = "(";
    for (const std::int64_t extent : tensor.shape())
        shape += std::to_string(extent) + ", ";
    const std::string descr(type_of<float>().numpy);
    std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + "), }";
    // The numbers begin at a multiple of 64, after magic (6), version (2), length (2), header and a line end.
    constexpr std::size_t before = 10, alignment = 64;
    header.append(alignment - 1 - (before + header.size()) % alignment, ' ');
    header += '\n';

    std::string out(npy_magic);
    out += {'\x01', '\x00', static_cast<char>(header.size() & 0xFFU), static_cast<char>(header.size() >> 8U)};
    out += header;
    const auto bytes = std::as_bytes(tensor.values());
    return out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

} // namespace headscope::format
