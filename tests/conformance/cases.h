#pragma once

#include "core/engine/engine.h"

#include <functional>
#include <string>
#include <vector>

namespace headscope {

/// A problem with a known result.
struct ConformanceCase {
    std::string name;
    std::string parameters; ///< sizes, mask and seed, for the message of a failure
    Problem problem;
    Trace expected; ///< the known stages, and the fully masked rows
};

/// Returns the cases of tests/data/mha and tests/data/cat_sleeps: tensors that PyTorch computed in double
/// precision. A case with named masks appears twice: with its boolean tensor and with the rules in words.
std::vector<ConformanceCase> golden_cases();

/// Returns seeded problems that cover every feature and combinations of them; expected is empty until
/// reference_trace fills it.
std::vector<ConformanceCase> generated_cases();
/// Cases with a gate on the head outputs, which not every engine computes.
std::vector<ConformanceCase> gated_cases();
/// Cases with queries that are scaled by position, and with masks of chunks, which not every engine computes.
std::vector<ConformanceCase> chunked_cases();
/// Cases whose values have a norm, which not every engine computes.
std::vector<ConformanceCase> value_norm_cases();
/// Cases whose scores have terms by relative position, which not every engine computes.
std::vector<ConformanceCase> relative_cases();

/// Computes a trace: an engine, or the reference.
using Tracer = std::function<Trace(const Problem&)>;

/// Runs cases and returns one line for each case that fails; empty if all pass.
std::vector<std::string> failures(const std::vector<ConformanceCase>& cases, const Tracer& tracer);
/// Runs cases on an engine with all stages wanted.
std::vector<std::string> failures(const std::vector<ConformanceCase>& cases, engine::Engine& engine);

} // namespace headscope
