#pragma once

#include "core/run/backend.h"

#include <memory>

namespace headscope::cpu {

struct CpuMachine;

class KeyValueCache;

/// The keys and values that the kernel of an attention keeps in a RowRun; null for other states.
const KeyValueCache* cache_of(const run::KernelState* state);

/// Computes the nodes of a graph with the kernels of the CPU engine: the numbers equal those of CpuEngine and
/// of the functions in layer_rows.h, bit for bit. From the scores to the contributions of an attention all
/// nodes are one step by tiles of query rows; scores and weights are stored only if they are captured or
/// changed. Shares threads and memory with other users of the machine, one of which may run at a time.
class CpuBackend final : public run::Backend {
public:
    explicit CpuBackend(std::shared_ptr<CpuMachine> machine) : machine_(std::move(machine)) {}

    std::string name() const override { return "cpu"; }
    std::vector<run::Step> steps_after(std::vector<run::Step> first, const run::Needs& needs) override;
    std::shared_ptr<Tensor> make(const Shape& shape) override;
    void finish() override;
    void release() override;

private:
    std::shared_ptr<CpuMachine> machine_;
};

} // namespace headscope::cpu
