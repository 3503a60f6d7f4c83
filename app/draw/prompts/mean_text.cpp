#include "app/draw/prompts/mean_text.h"

#include "app/draw/kit/format.h"
#include "core/base/message.h"

namespace headscope::app {

std::string mean_caption(const PromptMean& mean) {
    if (mean.prompts < mean.of)
        return tr_n("mean_text.some", "mean of {} of {} prompt", "mean of {} of {} prompts", mean.of,
                    mean.prompts, mean.of);
    return tr_n("mean_text.all", "mean of {} prompt", "mean of {} prompts", mean.of, mean.of);
}

std::string spread_text(const PromptMean& mean, std::size_t cell, int decimals) {
    if (cell >= mean.cells.size() || mean.cells[cell].count == 0)
        return {};
    const analysis::PlaceStatistics& here = mean.cells[cell];
    return tr_n("mean_text.spread", "spread (standard deviation) {} over {} prompt",
                "spread (standard deviation) {} over {} prompts", here.count, number(here.spread, decimals),
                here.count);
}

} // namespace headscope::app
