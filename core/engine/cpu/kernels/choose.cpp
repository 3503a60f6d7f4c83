#include "core/engine/cpu/kernels/kernels.h"

#include <array>
#include <cstdlib>
#include <string_view>

namespace headscope::cpu {

namespace {

struct Choice {
    std::string_view id;
    const Kernels* kernels;
    bool usable;
};

/// All kernels of this program, the fastest first.
auto choices() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    // avx2.cpp is compiled for x86-64-v3.
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    // avx512.cpp is compiled for x86-64-v4, which includes all of these.
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl");
    return std::array{Choice{"avx512", &kernels_avx512, avx512}, Choice{"avx2", &kernels_avx2, avx2},
                      Choice{"baseline", &kernels_baseline, true}};
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

} // namespace headscope::cpu
