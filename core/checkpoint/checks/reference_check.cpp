#include "core/checkpoint/checks/reference_check.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/checks/largest_difference.h"
#include "core/checkpoint/graph/graph_runs.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

namespace headscope::checkpoint {

namespace {

/// Names of the tensors of a kind in files: "{l}" stands for the layer, "{n}" for its place among the layers
/// that have such numbers, as in the tuples of Hugging Face's outputs. A name without either holds all
/// layers.
struct ReferenceKind {
    std::string name;
    std::array<std::string, 3> names;
    double tolerance;
};

/// "encoder" begins the names of that stack's tensors.
ReferenceKind attentions_of(const std::string& stack) {
    const std::string part = stack.empty() ? "" : stack + "_";
    const std::string_view name = stack.empty()        ? "attentions"
                                  : stack == "encoder" ? "encoder attentions"
                                  : stack == "cross"   ? "cross attentions"
                                                       : "decoder attentions";
    return {std::string(name),
            {part + "attentions.{n}", (stack.empty() ? "" : stack + ".") + "layers.{l}.weights",
             "expect." + part + "attentions"},
            1e-5};
}

ReferenceKind hidden_states_of(const std::string& stack) {
    const std::string part = stack.empty() ? "" : stack + "_";
    const std::string_view name = stack.empty()        ? "hidden"
                                  : stack == "encoder" ? "encoder hidden"
                                                       : "decoder hidden";
    return {std::string(name),
            {part + "hidden_states.{n}", (stack.empty() ? "" : stack + ".") + "hidden.{l}",
             "expect." + part + "hidden_states"},
            5e-5};
}

const ReferenceKind logits_kind{"logits", {"logits", "expect.logits", ""}, 2e-4};

const ReferenceKind router_kind{
    "router logits", {"router_logits.{n}", "layers.{l}.router", "expect.router_logits"}, 5e-5};

/// A tensor of the file, and where this layer's numbers begin in it.
struct ReferencePlace {
    const format::SafetensorsEntry* entry = nullptr;
    std::int64_t first = 0;
};

constexpr std::size_t mark_length = 3;

/// Where a pattern of ReferenceKind has {l} or {n}; npos if it has neither.
std::size_t mark_of(std::string_view pattern) {
    return std::min(pattern.find("{l}"), pattern.find("{n}"));
}

/// The numbers of layer l. at: its place among the `layers` of a tensor that holds all of them.
ReferencePlace find_place(const format::Safetensors& file, const ReferenceKind& kind, std::int64_t l,
                          std::int64_t at, std::int64_t layers, const Shape& shape) {
    for (std::string name : kind.names) {
        const std::size_t mark = mark_of(name);
        if (mark != std::string::npos)
            name.replace(mark, mark_length, std::to_string(name[mark + 1] == 'n' ? at : l));
        const format::SafetensorsEntry* const entry = name.empty() ? nullptr : file.find(name);
        if (entry == nullptr)
            continue;
        std::vector<std::int64_t> wanted(shape.begin(), shape.end());
        const bool all = mark == std::string::npos && layers > 0;
        if (all)
            wanted.insert(wanted.begin(), layers);
        if (entry->extents != wanted)
            fail_input(tr("reference_check.tensor_shape_checkpoint",
                          "{}: tensor {} has shape {}; from this checkpoint and input_ids it is {}, make the "
                          "reference with the same model and inputs",
                          file.source(), name, entry->shape_text(), extents_text(wanted)));
        return {entry, all ? at * shape.count() : 0};
    }
    return {};
}

bool is_input(std::string_view name) {
    return name.ends_with("input_ids") || name.ends_with("attention_mask") ||
           name.ends_with("token_type_ids");
}

/// Returns whether a name is one of those that hold attentions, hidden states or logits, of any layer of any
/// stack.
bool is_result(const std::string& name) {
    const auto named = [&](const ReferenceKind& kind) {
        return std::ranges::any_of(kind.names, [&](const std::string& pattern) {
            const std::size_t mark = mark_of(pattern);
            if (mark == std::string::npos)
                return !pattern.empty() && name == pattern;
            const std::string_view before = std::string_view(pattern).substr(0, mark),
                                   after = std::string_view(pattern).substr(mark + mark_length);
            if (name.size() <= before.size() + after.size() || !name.starts_with(before) ||
                !name.ends_with(after))
                return false;
            const std::string_view layer =
                std::string_view(name).substr(mark, name.size() - before.size() - after.size());
            return std::ranges::all_of(layer, [](char c) { return c >= '0' && c <= '9'; });
        });
    };
    return named(logits_kind) || named(router_kind) ||
           std::ranges::any_of(std::array{"", "encoder", "decoder", "cross"}, [&](const char* stack) {
               return named(attentions_of(stack)) || named(hidden_states_of(stack));
           });
}

/// Compares what the file has of it; nothing when it has none.
class ReferenceComparison {
public:
    explicit ReferenceComparison(const format::Safetensors& file) : file_(file) {}

    /// inputs: what the rows stand for. at: as in find_place, the number of the layer if it is not given.
    void add(const ReferenceKind& kind, std::optional<std::int64_t> layer, std::int64_t layers,
             const Tensor& got, const ModelInputs& inputs, std::optional<std::int64_t> at = {}) {
        const std::int64_t l = layer.value_or(0);
        const ReferencePlace place = find_place(file_, kind, l, at.value_or(l), layers, got.shape());
        if (place.entry == nullptr) {
            lacking_.insert(kind.name);
            return;
        }
        compare(kind, layer, place, got, inputs, 1);
    }
    /// Same, of the copies of the residual stream at layer l, the first of `layers`: (copies, B, T, D).
    void add_copies(const ReferenceKind& kind, std::int64_t l, std::int64_t layers, const Tensor& got,
                    const ModelInputs& inputs) {
        const ReferencePlace place = find_place(file_, kind, l, l, layers, got.shape());
        if (place.entry == nullptr)
            lacking_.insert(kind.name);
        else
            compare(kind, l, place, got, inputs, got.shape()[0]);
    }
    /// Returns whether the file has numbers of the kind for layer l, the first of `layers`.
    bool has(const ReferenceKind& kind, std::int64_t l, std::int64_t layers, const Shape& shape) const {
        return find_place(file_, kind, l, 0, layers, shape).entry != nullptr;
    }
    std::vector<ReferenceRow> take() { return std::move(rows_); }
    ReferenceGaps gaps() const {
        ReferenceGaps gaps;
        gaps.only_here.assign(lacking_.begin(), lacking_.end());
        for (const format::SafetensorsEntry& entry : file_.entries()) {
            if (used_.contains(entry.name) || is_input(entry.name))
                continue;
            (is_result(entry.name) ? gaps.missing_here : gaps.not_compared).push_back(entry.name);
        }
        return gaps;
    }

private:
    /// copies: equal parts of `got`, each of all batch entries.
    void compare(const ReferenceKind& kind, std::optional<std::int64_t> layer, const ReferencePlace& place,
                 const Tensor& got, const ModelInputs& inputs, std::int64_t copies) {
        used_.insert(place.entry->name);
        LargestDifference difference(kind.name, layer, kind.tolerance);
        // (B, rows, T, width) with heads, else (B, T, width): T follows T within a batch entry.
        const std::int64_t width = got.shape().back(0), rows = got.count() / width,
                           of_entry = rows / copies / inputs.B;
        std::vector<float> expected(static_cast<std::size_t>(width));
        for (std::int64_t r = 0; r < rows; ++r) {
            const std::int64_t b = r / of_entry % inputs.B, i = r % inputs.T;
            if (!inputs.attention_mask.empty() &&
                inputs.attention_mask[static_cast<std::size_t>(b * inputs.T + i)] == 0)
                continue;
            file_.read_numbers(place.entry->name, static_cast<std::uint64_t>(place.first + r * width),
                               expected);
            for (std::int64_t c = 0; c < width; ++c)
                difference.add(static_cast<double>(got.data()[r * width + c]),
                               static_cast<double>(expected[static_cast<std::size_t>(c)]));
        }
        rows_.push_back(difference.row());
    }

    const format::Safetensors& file_;
    std::vector<ReferenceRow> rows_;
    std::set<std::string> used_, lacking_; ///< tensors of the file; kinds that it lacks
};

/// Compares what the routers of mixtures compute, if the file has it, in a run of the model's graph.
void add_routers(const Model& model, const ModelInputs& inputs, ReferenceComparison& comparison,
                 Progress& progress) {
    const Architecture& a = model.architecture();
    std::vector<std::int64_t> layers;
    std::vector<graph::Part> captures;
    for (std::int64_t l = 0; l < a.layers; ++l)
        if (a.has_experts(l)) {
            layers.push_back(l);
            captures.push_back({layer_prefix(a, {Stack::own, l}) + "router"});
        }
    const std::int64_t count = std::ssize(layers);
    if (layers.empty() ||
        !comparison.has(router_kind, layers.front(), count, {inputs.B, inputs.T, a.experts}))
        return;
    GraphRuns runs(std::shared_ptr<const Model>(std::shared_ptr<void>(), &model), inputs, {});
    const run::RunPtr run = runs.run(captures, {}, nullptr, progress);
    for (std::size_t at = 0; at < layers.size(); ++at)
        comparison.add(router_kind, layers[at], count, *(*run)[captures[at].node], inputs,
                       static_cast<std::int64_t>(at));
}

/// Compares the copies of the residual stream that enter each layer and leave the last one, if the file has
/// them, as in the tuples of Hugging Face's outputs.
void add_copies(const Model& model, const ModelInputs& inputs, ReferenceComparison& comparison,
                Progress& progress) {
    const Architecture& a = model.architecture();
    const StreamCopies& copies = *a.copies;
    ReferenceKind kind = hidden_states_of("");
    kind.names[1] = ""; // the name of the active copy alone
    std::vector<graph::Part> captures;
    for (std::int64_t l = 0; l <= a.layers; ++l)
        for (std::int64_t copy = 0; copy < copies.count; ++copy)
            captures.push_back({layer_prefix(a, {Stack::own, std::min(l, a.layers - 1)}) +
                                (l < a.layers ? "resid_in" : "resid_out") +
                                (copy == copies.active ? "" : "." + std::to_string(copy))});
    GraphRuns runs(std::shared_ptr<const Model>(std::shared_ptr<void>(), &model), inputs, {});
    const run::RunPtr run = runs.run(captures, {}, nullptr, progress);
    for (std::int64_t l = 0; l <= a.layers; ++l) {
        Tensor all(Shape{copies.count, inputs.B, inputs.T, a.D});
        float* to = all.data();
        for (std::int64_t copy = 0; copy < copies.count; ++copy)
            to = std::ranges::copy(
                     (*run)[captures[static_cast<std::size_t>(l * copies.count + copy)].node]->values(), to)
                     .out;
        comparison.add_copies(kind, l, a.layers + 1, all, inputs);
    }
}

} // namespace

std::vector<ReferenceRow> check_against(const Model& model, const format::Safetensors& reference,
                                        run::Backend* backend, Progress& progress, ReferenceGaps* gaps) {
    const ModelInputs inputs = read_model_inputs(reference);
    const ForwardResult run =
        run_model(model, inputs, {.stages = StageSet().with(TensorId::weights)}, backend, progress);
    ReferenceComparison comparison(reference);
    const Architecture& architecture = model.architecture();
    std::map<Stack, std::int64_t> attentions; // of layers that have attention
    for (const LayerRun& layer : run.layers)
        ++attentions[layer.place.stack];
    std::map<Stack, std::int64_t> seen;
    for (const LayerRun& layer : run.layers) {
        const Stack stack = layer.place.stack;
        comparison.add(attentions_of(stack_name(architecture, stack)), layer.place.layer, attentions[stack],
                       *layer.trace.stage(TensorId::weights),
                       stack == Stack::encoder ? inputs.source.front() : inputs, seen[stack]++);
    }
    const auto add_hidden = [&](Stack stack, const std::vector<TensorPtr>& hidden, const ModelInputs& read) {
        for (std::int64_t l = 0; l < std::ssize(hidden); ++l)
            comparison.add(hidden_states_of(stack_name(architecture, stack)), l, std::ssize(hidden),
                           *hidden[static_cast<std::size_t>(l)], read);
    };
    if (!run.encoder_hidden.empty())
        add_hidden(Stack::encoder, run.encoder_hidden, inputs.source.front());
    // Files that are exported here have the active copy alone.
    if (!architecture.copies || reference.find("hidden.0") != nullptr)
        add_hidden(Stack::own, run.hidden, inputs);
    else
        add_copies(model, inputs, comparison, progress);
    add_routers(model, inputs, comparison, progress);
    if (run.logits != nullptr)
        comparison.add(logits_kind, std::nullopt, 0, *run.logits, inputs);
    if (gaps != nullptr)
        *gaps = comparison.gaps();
    std::vector<ReferenceRow> rows = comparison.take();
    if (rows.empty()) {
        const std::string stack = stack_name(architecture, stacks_of(architecture).front());
        const std::string part = stack.empty() ? "" : stack + "_";
        fail_input(run.logits == nullptr
                       ? tr("reference_check.no_attentions_0_hidden",
                            "{0} has no {1}attentions.0, {1}hidden_states.0 or logits to compare with, nor "
                            "expect.{1}attentions, expect.{1}hidden_states or expect.logits (the checkpoint "
                            "has no head); make it with the recipe in the manual, checkpoints.md",
                            reference.source(), part)
                       : tr("reference_check.no_attentions_0_hidden_2",
                            "{0} has no {1}attentions.0, {1}hidden_states.0 or logits to compare with, nor "
                            "expect.{1}attentions, expect.{1}hidden_states or expect.logits; make it with "
                            "the recipe in the manual, checkpoints.md",
                            reference.source(), part));
    }
    return rows;
}

} // namespace headscope::checkpoint
