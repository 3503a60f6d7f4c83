#include "core/base/error.h"
#include "core/project/mask_json.h"
#include "tests/fuzz/target.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

using namespace headscope;

namespace {

bool lacks_numbers(const MaskRule& rule) {
    const auto* additive = std::get_if<AdditiveMask>(&rule);
    return additive != nullptr && additive->add == nullptr;
}

/// Describes an accepted mask, and uses it in a problem, which may refuse it.
void use(const Mask& mask) {
    if (std::ranges::any_of(mask, lacks_numbers))
        return;
    if (project::describe_mask(mask).empty())
        std::abort();
    const Dims dims{.B = 2, .Tq = 2, .Tk = 3, .D = 4, .Dkv = 4, .H = 2, .Hkv = 1, .dk = 2, .dv = 2};
    const MaskRows rows(mask, dims);
    for (std::int64_t b = 0; b < dims.B; ++b)
        for (std::int64_t h = 0; h < dims.H; ++h)
            for (std::int64_t i = 0; i < dims.Tq; ++i) {
                const MaskRow row = rows.row(b, h, i);
                if (row.begin < 0 || row.begin > row.end || row.end > dims.Tk)
                    std::abort();
                for (std::int64_t j = 0; j < dims.Tk; ++j)
                    static_cast<void>(rows.allows(b, h, i, j));
            }
}

const fuzz::Registered mask_target({.name = "mask", .read = [](std::string_view bytes) {
                                        fuzz::accepted([&] { use(project::parse_mask(bytes)); });
                                    }});

} // namespace
