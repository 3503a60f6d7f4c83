#pragma once

#include "core/attention/problem.h"
#include "core/base/progress.h"
#include "core/tensor/tensor.h"
#include "core/trace/stage_set.h"

#include <cstdint>
#include <memory>

namespace headscope::cpu {

struct CpuMachine;
class CpuRun;

/// Query rows of neighbouring heads.
struct RowPart {
    std::int64_t b = 0, batches = 1;
    std::int64_t h = 0, heads = 1;
    std::int64_t row = 0, rows = 1;
};

/// The stages that grow with Tq x Tk, or with Tq x D for each head, made some rows at a time, so that none is
/// ever held as a whole. The numbers are those of CpuEngine, bit for bit. Memory: queries, keys and values of
/// all heads, keys and values once more, and the part itself. For one thread at a time, and no other run of
/// the machine meanwhile.
class RowParts {
public:
    /// scores, scaled, masked, weights, weights_mean and contributions.
    static StageSet stages();

    /// Projects queries, keys and values. Throws Error(input) for an invalid problem and for numbers beyond
    /// float32's range; Error(cancelled). `progress` is looked at as long as this lives.
    RowParts(const Problem& problem, std::shared_ptr<CpuMachine> machine, Progress& progress);
    ~RowParts();

    /// (batches, heads, rows, width), of weights_mean (batches, rows, Tk), for which the part has all heads.
    /// Throws likewise.
    TensorPtr make(TensorId stage, const RowPart& part);

private:
    Problem problem_;
    std::shared_ptr<CpuMachine> machine_;
    std::unique_ptr<CpuRun> run_;
};

} // namespace headscope::cpu
