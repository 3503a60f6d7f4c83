#include "core/format/npy.h"

#include "core/format/npy_header.h"

namespace headscope::format {

std::string npy_header(const Shape& shape) {
    return npy_header(type_of<float>().numpy, shape);
}

std::string npy_header(std::string_view descr, const Shape& shape) {
    std::string extents = "(";
    for (const std::int64_t extent : shape)
        extents += std::to_string(extent) + ", ";
    std::string header =
        "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': " + extents + "), }";
    // The numbers begin at a multiple of 64, after magic (6), version (2), length (2), header and a line end.
    constexpr std::size_t before = 10, alignment = 64;
    header.append(alignment - 1 - (before + header.size()) % alignment, ' ');
    header += '\n';

    std::string out(npy_magic);
    out += {'\x01', '\x00', static_cast<char>(header.size() & 0xFFU), static_cast<char>(header.size() >> 8U)};
    return out += header;
}

std::string npy_bytes(const Tensor& tensor) {
    std::string out = npy_header(tensor.shape());
    const auto bytes = std::as_bytes(tensor.values());
    return out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

} // namespace headscope::format
