#include "core/figure/png.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <cairo.h>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <string_view>

namespace headscope::figure {

namespace {

constexpr std::size_t after_header = 33; // the signature and the chunk IHDR, which is first

/// Four bytes in big-endian order, like all numbers in a PNG.
std::string big_endian(std::uint32_t number) {
    return {static_cast<char>(number >> 24), static_cast<char>(number >> 16 & 0xFFU),
            static_cast<char>(number >> 8 & 0xFFU), static_cast<char>(number & 0xFFU)};
}

/// CRC-32 according to annex D of the PNG specification.
std::uint32_t checksum(std::string_view bytes) {
    constexpr std::uint32_t polynomial = 0xEDB88320U;
    return ~std::accumulate(bytes.begin(), bytes.end(), ~0U, [](std::uint32_t crc, char byte) {
        crc ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc & 1U) != 0 ? crc >> 1 ^ polynomial : crc >> 1;
        return crc;
    });
}

std::string chunk(const std::string& type, const std::string& data) {
    return big_endian(static_cast<std::uint32_t>(data.size())) + type + data +
           big_endian(checksum(type + data));
}

cairo_status_t append_bytes(void* to, const unsigned char* bytes, unsigned int size) {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), size);
    return CAIRO_STATUS_SUCCESS;
}

/// Cairo writes an alpha-only surface as grayscale. fill: receives each row's index and its first byte.
template<class Fill>
std::string png_of(cairo_format_t format, std::int64_t width, std::int64_t height, const Fill& fill) {
    if (std::max(width, height) > largest_png_side)
        fail_input(tr("png.picture_x_pixels_cant",
                      "a picture of {} x {} pixels can't be written; a PNG has at most {} pixels a side "
                      "here; write a .npy file, or take a smaller part",
                      width, height, largest_png_side));
    const std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)> surface(
        cairo_image_surface_create(format, static_cast<int>(width), static_cast<int>(height)),
        &cairo_surface_destroy);
    std::string bytes;
    if (cairo_surface_status(surface.get()) == CAIRO_STATUS_SUCCESS) {
        unsigned char* const rows = cairo_image_surface_get_data(surface.get());
        const std::int64_t stride = cairo_image_surface_get_stride(surface.get());
        for (std::int64_t row = 0; row < height; ++row)
            fill(row, rows + row * stride);
        cairo_surface_mark_dirty(surface.get());
        cairo_surface_write_to_png_stream(surface.get(), append_bytes, &bytes);
    }
    if (bytes.size() <= after_header)
        throw Error(ErrorKind::internal, "a picture could not be packed as PNG");
    return bytes;
}

} // namespace

std::string grayscale_png(std::span<const std::uint8_t> grey, std::int64_t width, std::int64_t height,
                          const std::string& description) {
    std::string bytes =
        png_of(CAIRO_FORMAT_A8, width, height, [&](std::int64_t row, unsigned char* bytes_of_row) {
            std::copy_n(grey.data() + row * width, width, bytes_of_row);
        });
    return bytes.insert(after_header, chunk("tEXt", std::string("Description") + '\0' + description));
}

std::string rgb_png(std::span<const std::uint8_t> rgba, std::int64_t width, std::int64_t height) {
    return png_of(CAIRO_FORMAT_RGB24, width, height, [&](std::int64_t row, unsigned char* bytes_of_row) {
        // A Cairo pixel is one 32-bit number with red in its third byte.
        for (std::int64_t x = 0; x < width; ++x) {
            const std::uint8_t* const from = rgba.data() + 4 * (row * width + x);
            const std::uint32_t pixel = std::uint32_t{from[0]} << 16 | std::uint32_t{from[1]} << 8 | from[2];
            std::memcpy(bytes_of_row + 4 * x, &pixel, sizeof pixel);
        }
    });
}

std::string with_resolution(std::string png, double pixels_per_inch) {
    constexpr double inches_per_metre = 1 / 0.0254;
    const std::string side =
        big_endian(static_cast<std::uint32_t>(std::lround(pixels_per_inch * inches_per_metre)));
    constexpr char per_metre = 1;
    return png.insert(after_header, chunk("pHYs", side + side + per_metre));
}

} // namespace headscope::figure
