#pragma once

#include "core/analysis/heads/head_metrics.h"
#include "core/base/progress.h"
#include "core/checkpoint/model/text_model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::app {

/// What a survey found of all heads, ready to be drawn.
struct SurveyedHeads {
    std::string path;
    std::int64_t texts = 0, pieces = 0, tokens = 0;
    std::vector<std::vector<analysis::HeadMetrics>> heads; ///< the means, by layer and head
};

/// One head's card of a survey.
struct SurveyedHead {
    /// A piece of the corpus on which a score was large.
    struct Example {
        std::int64_t line = 0; ///< of the corpus, from 1
        float score = 0, weight = 0;
        std::int64_t query = 0, key = 0;
        std::vector<std::string> tokens; ///< readable
        std::string text = {};           ///< that a prompt can be
    };
    struct Score {
        analysis::HeadScore score{};
        double mean = 0, spread = 0;
        std::vector<Example> largest;
    };
    std::int64_t layer = 0, head = 0;
    std::vector<Score> scores = {};
};

/// Reads the means. For a worker: the checkpoint's files are hashed, which takes a while for large ones.
/// Throws Error(input) for what is no finished survey, and for a survey of another checkpoint than the
/// model.
SurveyedHeads surveyed_heads(const checkpoint::TextModel& model, const std::string& path,
                             const Progress& cancel);
/// Reads one card, with at most three examples for each score. Throws Error(input) likewise.
SurveyedHead surveyed_head(const checkpoint::TextModel& model, const std::string& path, std::int64_t layer,
                           std::int64_t head);

} // namespace headscope::app
