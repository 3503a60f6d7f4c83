#include "core/engine/vulkan/shaders.h"

namespace headscope::vulkan {

namespace {

constexpr std::uint32_t gemm_code[] =
#include "shaders/gemm.inc"
    ;
constexpr std::uint32_t rotate_code[] =
#include "shaders/rotate.inc"
    ;
constexpr std::uint32_t attend_code[] =
#include "shaders/attend.inc"
    ;
constexpr std::uint32_t rectangle_code[] =
#include "shaders/rectangle.inc"
    ;

} // namespace

std::span<const std::uint32_t> shader_code(Shader shader) {
    switch (shader) {
    case Shader::gemm:
        return gemm_code;
    case Shader::rotate:
        return rotate_code;
    case Shader::attend:
        return attend_code;
    case Shader::rectangle:
        break;
    }
    return rectangle_code;
}

} // namespace headscope::vulkan
