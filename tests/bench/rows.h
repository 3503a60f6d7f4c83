#pragma once

#include "core/attention/problem.h"

#include <functional>
#include <string>
#include <vector>

namespace headscope::bench {

/// Quartiles of measured times, in seconds.
struct Spread {
    double median = 0, lower = 0, upper = 0; ///< quartiles
};
Spread spread_of(std::vector<double> values);

/// Times one call: 31 samples of at least 2 ms each, after a warm-up.
Spread time_of(const std::function<void()>& call);

/// One line of the table, as text and as JSON.
struct BenchRow {
    std::string name, value, detail;
    std::string json; ///< an object
};

/// wanted: the target, as text; may be empty.
BenchRow timed_row(const std::string& name, const Spread& time, const std::string& wanted);

/// Returns self-attention of (B, T, D, H) with dk = dv = D / H and without biases; its numbers keep the
/// scores small.
Problem bench_problem(std::int64_t B, std::int64_t T, std::int64_t D, std::int64_t H);

/// Times the edit of one number, until every stage and the head panel's metrics are computed.
void add_edit_rows(std::vector<BenchRow>& rows);

/// Times the standard sizes on a device, or on every device for "auto", compared with this machine's limit,
/// and one of the sizes stage by stage.
void add_engine_rows(std::vector<BenchRow>& rows, const std::string& device);

/// Times 32,768 tokens, for which no tensor of size T x T is stored, and the map of 131,072 tokens: on the
/// CPU, and also on `device` if that is another device.
void add_long_row(std::vector<BenchRow>& rows, const std::string& device);

/// Times frames in which the map of 131,072 tokens is panned and zoomed.
void add_map_frame_rows(std::vector<BenchRow>& rows);

/// Times files of attention weights larger than memory: sparse ones in the folder for temporary files.
void add_file_rows(std::vector<BenchRow>& rows);

/// Times a checkpoint: opening it, a run at T 128 and T 1024, a run after an edit, and a step of generation.
void add_model_rows(std::vector<BenchRow>& rows, const std::string& folder);

/// Times the analyses of a checkpoint's predictions: attribution, a score, the logit lens, an ablation sweep,
/// a path.
void add_effects_rows(std::vector<BenchRow>& rows, const std::string& folder);

/// Times a survey of texts of 128 tokens, compared with only the forward pass of the same texts.
void add_survey_rows(std::vector<BenchRow>& rows, const std::string& folder);

} // namespace headscope::bench
