#include "core/engine/problem_runs.h"

#include "core/attention/same_bits.h"
#include "core/base/memory.h"
#include "core/engine/memory_need.h"

#include <algorithm>

namespace headscope::engine {

namespace {

constexpr std::size_t most_known = 16; ///< structures of which the graphs are kept

} // namespace

ProblemRuns::Known& ProblemRuns::known(const ProblemStructure& structure) {
    if (backend_.has_failed() && !device_failed_) {
        known_.clear();
        device_failed_ = true;
    }
    const auto found = std::ranges::find(known_, structure, &Known::structure);
    if (found != known_.end()) {
        known_.splice(known_.begin(), known_, found);
        return known_.front();
    }
    if (known_.size() == most_known)
        known_.pop_back();
    known_.push_front(
        {.structure = structure, .graph = graph_of(structure), .stages = {}, .all = {}, .plans = {}});
    Known& known = known_.front();
    const Dims& dims = structure.dims;
    for (const TensorInfo& stage : stage_table())
        if (const graph::NodeId node = known.graph.node(stage.id); node != AttentionGraph::no_node) {
            const HeadAxis heads = head_axis(stage, dims);
            known.stages.push_back({stage.id, node, heads.axis < 0 ? 0 : heads.kv ? dims.Hkv : dims.H});
            known.all = known.all.with(stage.id);
        }
    return known;
}

const run::PlanPtr& ProblemRuns::plan(Known& known, StageSet captured) const {
    const auto found = std::ranges::find(known.plans, captured, &std::pair<StageSet, run::PlanPtr>::first);
    if (found != known.plans.end())
        return found->second;
    std::vector<graph::Part> captures;
    for (const Stage& stage : known.stages)
        if (captured.has(stage.id) && stage.id != TensorId::x)
            captures.push_back({known.graph.graph.node(stage.node).name});
    known.plans.emplace_back(captured, std::make_shared<const run::Plan>(known.graph.graph, captures,
                                                                         run::NodeInterventions(), backend_));
    return known.plans.back().second;
}

Trace ProblemRuns::trace_of(const run::Run& run, const Known& known, const Problem& problem) const {
    const run::Plan& plan = run.plan();
    const bool failed = backend_.has_failed();
    Trace trace{.dims = problem.dims,
                .stages = {},
                .fully_masked = {},
                .device = failed ? run::cpu_device : plan.device(),
                .seconds = 0,
                .computed = {},
                .parts = known.structure.parts,
                .left_to_cpu = {}};
    for (const Stage& stage : known.stages)
        trace.slot(stage.id) = run.tensor(stage.node);
    if (trace.device != run::cpu_device)
        for (const Stage& stage : known.stages)
            if (plan.is_on_cpu(stage.node))
                trace.left_to_cpu = trace.left_to_cpu.with(stage.id);
    trace.fully_masked.reserve(run.empty_rows().size());
    for (const run::EmptyRow& row : run.empty_rows())
        trace.fully_masked.push_back({row.b, row.h, row.i});
    return trace;
}

Trace ProblemRuns::run(const Problem& problem, StageSet wanted, Progress& progress) {
    const MaskRows mask(problem.mask, problem.dims);
    Known& mine = known(structure_of(problem, mask));
    const StageSet captured = wanted & mine.all;
    const run::PlanPtr& planned = plan(mine, captured);
    if (!fits_in_memory(planned->bytes()))
        backend_.release();
    if (!fits_in_memory(planned->bytes()))
        require_memory_for(problem, captured); // a remedy that names stages
    const run::RunPtr run =
        run::run(planned, {leaves_of(mine.graph, problem, mask), nullptr}, {}, nullptr, progress);
    Trace trace = trace_of(*run, mine, problem);
    trace.slot(TensorId::x) = captured.has(TensorId::x) ? problem.x : nullptr;
    trace.computed = DirtySet::all(problem.dims.H, captured);
    return trace;
}

/// The run that made `trace`, as far as a later run can share its numbers.
run::RunPtr ProblemRuns::run_of(const Trace& trace, Known& known, std::vector<TensorPtr> leaves) const {
    std::vector<TensorPtr> numbers(leaves.size());
    for (const Stage& stage : known.stages)
        if (stage.id != TensorId::x)
            numbers[static_cast<std::size_t>(stage.node)] = trace.stages[static_cast<std::size_t>(stage.id)];
    std::vector<run::EmptyRow> empty_rows;
    empty_rows.reserve(trace.fully_masked.size());
    for (const MaskedRow& row : trace.fully_masked)
        empty_rows.push_back({known.graph.node(TensorId::weights), row.b, row.h, row.i});
    return run::Run::of(plan(known, known.all), {std::move(leaves), nullptr}, std::move(numbers),
                        std::move(empty_rows));
}

Trace ProblemRuns::rerun(const Problem& problem, const Problem& before, const Trace& previous,
                         Progress& progress) {
    const MaskRows mask(problem.mask, problem.dims);
    const bool same_mask = same_bits(problem.mask, before.mask);
    const MaskRows other_mask(same_mask ? Mask() : before.mask, before.dims);
    const MaskRows& mask_before = same_mask ? mask : other_mask;
    Known& earlier = known(structure_of(before, mask_before));
    Known& mine = known(structure_of(problem, mask));
    std::vector<TensorPtr> leaves = leaves_of(mine.graph, problem, mask);
    std::vector<TensorPtr> leaves_before = &earlier == &mine ? leaves_of(mine.graph, before, problem, leaves)
                                                             : leaves_of(earlier.graph, before, mask_before);
    const run::RunPtr run = run::run(plan(mine, mine.all), {std::move(leaves), nullptr}, {},
                                     run_of(previous, earlier, std::move(leaves_before)), progress);
    Trace trace = trace_of(*run, mine, problem);
    trace.slot(TensorId::x) = problem.x;
    DirtySet& computed = trace.computed;
    computed.heads.resize(static_cast<std::size_t>(problem.dims.H));
    for (const Stage& stage : mine.stages) {
        const run::HeadSet heads = run->computed(stage.node);
        if (stage.heads == 0 && heads != 0)
            computed.whole = computed.whole.with(stage.id);
        for (std::int64_t h = 0; h < stage.heads && heads != 0; ++h)
            if (StageSet& of_head = computed.heads[static_cast<std::size_t>(h)];
                (heads & run::head_bit(h, stage.heads)) != 0)
                of_head = of_head.with(stage.id);
    }
    return trace;
}

} // namespace headscope::engine
