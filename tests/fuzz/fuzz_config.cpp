#include "core/base/error.h"
#include "core/checkpoint/files/config.h"
#include "core/checkpoint/files/name_map.h"
#include "core/checkpoint/model/rope.h"
#include "tests/fuzz/target.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

using namespace headscope;

namespace {

/// What a config that was accepted promises.
void use(const checkpoint::ModelConfig& config) {
    const bool sizes = config.D > 0 && config.H > 0 && config.Hkv > 0 && config.dk > 0 && config.d_ff > 0 &&
                       config.vocab > 0 && config.H % config.Hkv == 0 &&
                       static_cast<std::int64_t>(config.windows.size()) == config.layers;
    if (!sizes || !(config.norm_eps > 0) || !(config.temperature(0) > 0))
        std::abort();
    for (const checkpoint::TensorName& row : checkpoint::name_map(config.family).body)
        if (checkpoint::is_needed(row, config) && std::ranges::min(checkpoint::file_extents(row, config)) < 1)
            std::abort();
    constexpr std::int64_t small = 1024;
    if (config.dk <= small && config.dk % 2 == 0)
        for (const std::int64_t T : {std::int64_t{1}, config.max_positions + 1})
            for (const float frequency : checkpoint::rotary_frequencies(config, T))
                if (std::isnan(frequency))
                    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        use(checkpoint::parse_model_config(std::string_view(reinterpret_cast<const char*>(data), size),
                                           "config.json"));
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::input)
            std::abort();
    }
    return 0;
}

void repair(std::string&) {}
