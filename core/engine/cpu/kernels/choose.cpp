#include "core/engine/cpu/kernels/kernels.h"

#include <array>
#include <cstdlib>
#include <string_view>

namespace headscope {

namespace {

struct Choice {
    std::string_view id;
    const Kernels* kernels;
    bool usable;
};

/// The fastest first.
auto choices() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return std::array{Choice{"avx512", &kernels_avx512, avx2 && __builtin_cpu_supports("avx512f")},
                      Choice{"avx2", &kernels_avx2, avx2}, Choice{"baseline", &kernels_baseline, true}};
#else
    return std::array{Choice{"baseline", &kernels_baseline, true}};
#endif
}

const Kernels& choose() {
    const char* const asked = std::getenv("HEADSCOPE_KERNELS");
    bool reached = asked == nullptr;
    for (const Choice& choice : choices()) {
        reached = reached || choice.id == asked;
        if (reached && choice.usable)
            return *choice.kernels;
    }
    return kernels_baseline;
}

} // namespace

const Kernels& best_kernels() {
    static const Kernels& best = choose();
    return best;
}

const Kernels* find_kernels(const char* id) {
    for (const Choice& choice : choices())
        if (choice.id == id && choice.usable)
            return choice.kernels;
    return nullptr;
}

} // namespace headscope
