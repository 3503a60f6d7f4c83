#include "core/base/message.h"
#include "core/text/preset_build.h"

namespace headscope::text::preset::cat_sleeps {

PresetProblem problem(const std::vector<Word>& words) {
    constexpr float x[] = {1, 2, 0, 0, //
                           0, 0, 1, 2};
    auto identity = std::make_shared<Tensor>(Shape{4, 4}, 0.0F);
    for (std::int64_t i = 0; i < 4; ++i)
        identity->at(i, i) = 1;
    const Weights weights = make_weights(identity, identity, identity, identity);
    return {make_problem(words, 2, make_tensor({1, 2, 4}, x), weights),
            {tr("preset_cat_sleeps.columns_0_1", "columns 0 and 1"),
             tr("preset_cat_sleeps.columns_2_3", "columns 2 and 3")},
            {}};
}

} // namespace headscope::text::preset::cat_sleeps
