#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/engine/cpu/kernels/kernels.h"

#include <algorithm>
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
    const char* asked = std::getenv("HEADSCOPE_KERNELS");
    if (asked != nullptr && *asked == '\0')
        asked = nullptr;
    const auto all = choices();
    if (asked != nullptr && std::ranges::find(all, std::string_view(asked), &Choice::id) == all.end())
        fail_input(tr("choose.headscope_kernels_set_unset",
                      "HEADSCOPE_KERNELS is \"{}\"; set it to {}, or unset it", asked,
                      joined(all, &Choice::id)));
    bool reached = asked == nullptr;
    for (const Choice& choice : all) {
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
