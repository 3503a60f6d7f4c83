#pragma once

#include "core/attention/problem.h"

#include <functional>
#include <string>
#include <vector>

namespace headscope::cli {

/// Seconds.
struct Spread {
    double median = 0, lower = 0, upper = 0; ///< quartiles
};
Spread spread_of(std::vector<double> values);

/// Of one call: 31 samples that each last at least 2 ms, after a warm-up.
Spread time_of(const std::function<void()>& call);

/// One line of the table, and the same for other programs.
struct BenchRow {
    std::string name, value, detail;
    std::string json; ///< an object
};

/// wanted: the figure to reach, for people; may be empty.
BenchRow timed_row(const std::string& name, const Spread& time, const std::string& wanted);

/// Self-attention of (B, T, D, H) with dk = dv = D / H, without biases, of numbers that keep the scores
/// small.
Problem bench_problem(std::int64_t B, std::int64_t T, std::int64_t D, std::int64_t H);

/// One number changed until every stage and what the head panel says of it are there.
void add_edit_rows(std::vector<BenchRow>& rows);

/// The standard sizes on a device, or on every one for "auto", against this machine's own limit, and one of
/// them stage by stage.
void add_engine_rows(std::vector<BenchRow>& rows, const std::string& device);

/// 32,768 tokens with nothing of size T x T kept.
void add_long_row(std::vector<BenchRow>& rows);

/// A checkpoint: opened, run at T 128 and T 1024, run again after an edit.
void add_model_rows(std::vector<BenchRow>& rows, const std::string& folder);

} // namespace headscope::cli
