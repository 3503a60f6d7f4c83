#pragma once

#include "core/analysis/heads/head_metrics.h"
#include "core/base/progress.h"
#include "core/checkpoint/model/text_model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::app {

/// The results of a survey for all heads, ready to be drawn.
struct SurveyedHeads {
    std::string path;
    std::int64_t texts = 0, pieces = 0, tokens = 0;
    std::vector<std::vector<analysis::HeadMetrics>> heads; ///< the means, by layer and head
};

/// The results of a survey for one head.
struct SurveyedHead {
    /// A piece of the corpus with a large score.
    struct Example {
        std::int64_t line = 0; ///< line of the corpus, from 1
        float score = 0, weight = 0;
        std::int64_t query = 0, key = 0;
        std::vector<std::string> tokens; ///< readable labels
        std::string text = {};           ///< text that can serve as a prompt
    };
    struct Score {
        analysis::HeadScore score{};
        double mean = 0, spread = 0;
        std::vector<Example> largest;
    };
    std::int64_t layer = 0, head = 0;
    std::vector<Score> scores = {};
};

/// Reads the means. For a worker: hashes the checkpoint's files, which takes a while for large ones. Throws
/// Error(input) if the file is not a finished survey or belongs to another checkpoint than the model.
SurveyedHeads surveyed_heads(const checkpoint::TextModel& model, const std::string& path,
                             const Progress& cancel);
/// Reads the results of one head, with at most three examples for each score. Throws Error(input) likewise.
SurveyedHead surveyed_head(const checkpoint::TextModel& model, const std::string& path, std::int64_t layer,
                           std::int64_t head);

} // namespace headscope::app
