#include "core/engine/vulkan/shaders.h"

#include "core/base/error.h"

#include <algorithm>
#include <array>
#include <string>

namespace headscope::vulkan {

namespace {

struct Shader {
    std::string_view name;
    std::span<const std::uint32_t> code;
};
#include "shaders/all.inc"

} // namespace

std::span<const std::uint32_t> shader_code(std::string_view name) {
    const auto found = std::ranges::find(shaders, name, &Shader::name);
    if (found == shaders.end())
        throw Error(ErrorKind::internal, "there is no compute kernel " + std::string(name));
    return found->code;
}

} // namespace headscope::vulkan
