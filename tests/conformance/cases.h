#pragma once

#include "core/engine/engine.h"

#include <functional>
#include <string>
#include <vector>

namespace headscope {

/// A problem whose answer is known.
struct ConformanceCase {
    std::string name;
    std::string parameters; ///< sizes, mask and seed, for the message of a failure
    Problem problem;
    Trace expected; ///< the stages that are known, and the fully masked rows
};

/// The cases of tests/data/mha and tests/data/cat_sleeps: tensors that PyTorch computed in double precision.
/// A case with masks that have names comes twice: with its boolean tensor and with the rules in words.
std::vector<ConformanceCase> golden_cases();

/// Seeded problems that cover every feature and their combinations; expected is empty until
/// reference_trace fills it.
std::vector<ConformanceCase> generated_cases();

/// How a trace comes about: an engine, or the oracle.
using Tracer = std::function<Trace(const Problem&)>;

/// Runs cases and says what is wrong, one line for each case that fails; empty when all is well.
std::vector<std::string> failures(const std::vector<ConformanceCase>& cases, const Tracer& tracer);
/// The same for an engine with all stages wanted.
std::vector<std::string> failures(const std::vector<ConformanceCase>& cases, engine::Engine& engine);

} // namespace headscope
