#include "core/base/error.h"
#include "core/checkpoint/families/families.h"
#include "core/checkpoint/model/rope.h"
#include "tests/fuzz/target.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

using namespace headscope;

namespace {

/// Checks the promises of an accepted config.
void use(const checkpoint::Architecture& a) {
    const bool sizes = a.D > 0 && a.H > 0 && a.Hkv > 0 && a.dk > 0 && a.d_ff > 0 && a.vocab > 0 &&
                       a.H % a.Hkv == 0 && static_cast<std::int64_t>(a.windows.size()) == a.layers &&
                       a.layer_rope.size() == a.windows.size();
    if (!sizes || !(a.norm_eps > 0) || !(a.temperature(0) > 0))
        std::abort();
    for (const checkpoint::TensorName& row : a.names.body)
        if (checkpoint::is_needed(row, a) && std::ranges::min(checkpoint::file_extents(row, a)) < 1)
            std::abort();
    constexpr std::int64_t small = 1024;
    if (a.dk <= small)
        for (const checkpoint::Rope& rope : a.ropes)
            for (const std::int64_t T : {std::int64_t{1}, a.max_positions + 1})
                for (const float frequency : checkpoint::rotary_frequencies(a, rope, T))
                    if (std::isnan(frequency))
                        std::abort();
}

const fuzz::Registered config_target({.name = "config", .read = [](std::string_view bytes) {
                                          fuzz::accepted([&] {
                                              use(checkpoint::read_architecture(bytes, "config.json"));
                                          });
                                      }});

} // namespace
