#include "core/analysis/effects/stream_writers.h"

#include "core/analysis/effects/direct_projections.h"
#include "core/analysis/effects/rows.h"
#include "core/analysis/effects/stream_terms.h"
#include "core/checkpoint/graph/graph_runs.h"
#include "core/checkpoint/run/from_rows.h"
#include "core/graph/labels.h"
#include "core/tensor/views.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace headscope::analysis {

namespace {

using checkpoint::Stack;
using graph::Node;
using graph::NodeId;
using Kind = Writer::Kind;

Writer writer_in(const Node& node, Kind kind, std::int64_t head = -1) {
    return {kind, static_cast<Stack>(node.location.stack), node.location.layer, head};
}

bool is_around_layers(const Node& node) {
    return node.location.layer < 0;
}

bool is_mlp(const Node& node) {
    return node.location.step == graph::Step::mlp_out;
}

/// The writer for a node that is added to the residual stream, other than the output of heads.
Writer writer_of(const Node& node) {
    if (is_around_layers(node))
        return {.kind = node.local_name() == graph::labels::position.name ? Kind::position : Kind::embedding};
    return writer_in(node, is_mlp(node) ? Kind::mlp : Kind::delta);
}

/// The writer for the bias of a norm that replaces the residual stream.
Writer writer_of_bias(const Node& norm) {
    if (is_around_layers(norm))
        return {.kind = Kind::embedding_norm_bias};
    return writer_in(norm, norm.location.step == graph::Step::norm1 ? Kind::norm1_bias : Kind::norm2_bias);
}

ConstRows rows_of(const Tensor& tensor) {
    const std::int64_t width = tensor.shape().back(0);
    return {tensor.data(), tensor.count() / width, width};
}

} // namespace

std::string Writer::name() const {
    const std::string at = (stack == Stack::cross ? "cross L" : "L") + std::to_string(layer);
    switch (kind) {
    case Kind::embedding:
        return "embedding";
    case Kind::position:
        return "position";
    case Kind::head:
        return at + "H" + std::to_string(head);
    case Kind::output_bias:
        return at + " b_O";
    case Kind::mlp:
        return at + " mlp";
    case Kind::delta:
        return at + " delta";
    case Kind::embedding_norm_bias:
        return "embedding norm bias";
    case Kind::norm1_bias:
        return at + " norm1 bias";
    case Kind::norm2_bias:
        return at + " norm2 bias";
    case Kind::final_norm_bias:
        return "final norm bias";
    case Kind::head_bias:
        return "head bias";
    case Kind::projection_bias:
        return "bias";
    }
    return {};
}

/// The numbers of a run for the terms of its residual stream at some positions.
class StreamWriters::Reading {
public:
    /// until, sources: see StreamWriters.
    Reading(const checkpoint::ModelRun& run, const std::vector<std::int64_t>& positions, std::int64_t until,
            bool sources, const Progress& cancel)
        : runs_(run.text(), run.edits(), std::make_shared<checkpoint::Workshop>()), kept_(run.kept()),
          terms_(terms_of_stream(graph(), graph().find(end_of(run, until)))), sources_(sources) {
        require_one_stream(run.model());
        require_unpatched(run);
        std::vector<graph::Part> captures;
        for (const std::int64_t position : positions)
            for (const StreamTerm& term : terms_)
                capture(term, position, captures);
        Progress progress{Progress::CancelledWith{cancel}};
        numbers_ = runs_.run(captures, {}, kept_, progress);
    }

    const graph::Graph& graph() const { return runs_.graph(); }
    const std::vector<StreamTerm>& terms() const { return terms_; }

    /// (1, T 1, width), or of heads (1, H, T 1, width): the row of a position.
    TensorPtr row(NodeId id, std::int64_t position) const { return numbers_->part(part_of(id, position)); }
    /// The numbers of an input of a node that is a leaf; null where it has no such input.
    TensorPtr parameter(const Node& node, std::size_t input) const {
        return input < node.inputs.size() ? numbers_->tensor(node.inputs[input].node) : nullptr;
    }
    /// Returns true for a state of the residual stream that the model's run has kept, or after the last term.
    bool is_known(NodeId state) const {
        return state >= 0 && (state == terms_.back().state || kept_->tensor(state) != nullptr);
    }
    /// Returns true for an MLP whose vector is the change of the residual stream less the other terms, so
    /// that the MLP need not run.
    bool is_difference(const StreamTerm& term) const {
        return is_mlp(graph().node(term.node)) && is_known(term.state);
    }
    /// The contributions of the heads that a term is the sum of; null for other terms.
    const Node* contributions(const Node& term) const {
        if (is_around_layers(term) || is_mlp(term) || is_norm_of_stream(term))
            return nullptr;
        const auto found = graph().try_find(term.name.substr(0, term.prefix) +
                                            std::string(graph::labels::contributions.name));
        return found ? &graph().node(*found) : nullptr;
    }
    /// The output of a branch, before the norm or factor that may change it.
    const Node& output(const Node& term) const {
        return changes_branch(term) ? graph().node(term.inputs.front().node) : term;
    }
    /// The numbers that the heads mix, if sources were asked for.
    std::optional<MixedValues> mixed(const Node& contributions, std::int64_t position) const {
        return sources_ ? std::optional(mixed_parts(contributions, position).of(*numbers_)) : std::nullopt;
    }

private:
    static std::string end_of(const checkpoint::ModelRun& run, std::int64_t until) {
        const checkpoint::ModelConfig& a = run.model().config();
        return until < attention_count(a) ? run.text()->name(attention_place(a, until), TensorId::resid_in)
                                          : checkpoint::last_stream_node(*run.text());
    }
    graph::Part part_of(NodeId id, std::int64_t position) const {
        const Node& node = graph().node(id);
        return {node.name, {{node.axes.back(1).name, {position, 1}}}};
    }
    MixedParts mixed_parts(const Node& contributions, std::int64_t position) const {
        return {graph(), contributions, {position, 1}, {}};
    }
    /// Adds the parts that are read for a term.
    void capture(const StreamTerm& term, std::int64_t position, std::vector<graph::Part>& to) const {
        const Node& node = graph().node(term.node);
        const auto add_parameters = [&](const Node& of) {
            for (std::size_t n = 1; n < of.inputs.size(); ++n)
                to.push_back({graph().node(of.inputs[n].node).name});
        };
        if (is_norm_of_stream(node)) {
            to.push_back(part_of(node.inputs.front().node, position));
            add_parameters(node);
        }
        if (const Node* const heads = contributions(node); heads != nullptr) {
            to.push_back(part_of(graph().find(heads->name), position));
            if (const Node& linear = output(node); linear.inputs.size() > 2)
                to.push_back({graph().node(linear.inputs[2].node).name});
            if (changes_branch(node))
                add_parameters(node);
            if (sources_)
                mixed_parts(*heads, position).add_to(to);
        } else if (!is_difference(term)) {
            to.push_back(part_of(term.node, position));
        }
        if (is_known(term.state))
            to.push_back(part_of(term.state, position));
    }

    checkpoint::GraphRuns runs_;
    run::RunPtr kept_, numbers_;
    std::vector<StreamTerm> terms_;
    bool sources_;
};

StreamWriters::StreamWriters(const checkpoint::ModelRun& run, std::int64_t position, std::int64_t until,
                             bool sources, const Progress& cancel)
    : StreamWriters(Reading(run, {position}, until, sources, cancel), position) {}

std::vector<StreamWriters> StreamWriters::at(const checkpoint::ModelRun& run,
                                             const std::vector<std::int64_t>& positions, std::int64_t until,
                                             bool sources, const Progress& cancel) {
    const Reading reading(run, positions, until, sources, cancel);
    std::vector<StreamWriters> all;
    for (const std::int64_t position : positions)
        all.push_back(StreamWriters(reading, position));
    return all;
}

StreamWriters::StreamWriters(const Reading& reading, std::int64_t position) {
    const auto row = [&](NodeId id) { return reading.row(id, position); };
    const TensorPtr end = row(reading.terms().back().state);
    stream_.assign(end->values().size(), 0.0F);
    const auto set_stream = [&](const Tensor& numbers) {
        std::ranges::copy(numbers.values(), stream_.begin());
    };
    for (const StreamTerm& term : reading.terms()) {
        const Node& node = reading.graph().node(term.node);
        if (is_norm_of_stream(node)) {
            pass_norm(reading, position, node);
            set_stream(*row(term.node));
            continue;
        }
        if (reading.contributions(node) != nullptr) {
            add_heads(reading, position, node);
        } else {
            Tensor added = copy_of(*row(reading.is_difference(term) ? term.state : term.node));
            if (reading.is_difference(term))
                std::ranges::transform(added.values(), stream_, added.data(), std::minus<>());
            add({writer_of(node)}, std::move(added));
        }
        MutableRow(stream_.data(), std::ssize(stream_)) += rows_of(*steps_.back().rows).colwise().sum();
        if (reading.is_known(term.state))
            set_stream(*row(term.state));
    }
}

void StreamWriters::add(const std::vector<Writer>& writers, Tensor rows) {
    steps_.push_back({.writer = writers_.size(),
                      .rows = Tensor(Shape{std::ssize(writers), rows.shape().back(0)}, rows.values()),
                      .norm = {}});
    writers_.insert(writers_.end(), writers.begin(), writers.end());
}

/// Adds the heads of an attention and b_O.
void StreamWriters::add_heads(const Reading& run, std::int64_t position, const Node& attention) {
    const Node& heads = *run.contributions(attention);
    const TensorPtr contributions = run.row(run.graph().find(heads.name), position),
                    b_O = run.parameter(run.output(attention), 2);
    const std::int64_t H = contributions->shape()[1], D = contributions->shape()[3];
    std::vector<Writer> writers;
    for (std::int64_t h = 0; h < H; ++h)
        writers.push_back(writer_in(attention, Kind::head, h));
    std::vector<float> rows(contributions->values().begin(), contributions->values().end());
    if (b_O != nullptr) {
        writers.push_back(writer_in(attention, Kind::output_bias));
        rows.insert(rows.end(), b_O->values().begin(), b_O->values().end());
    }
    add(writers, Tensor(Shape{std::ssize(writers), D}, rows));
    Step& step = steps_.back();
    step.heads = run.mixed(heads, position);
    if (!changes_branch(attention))
        return;
    const Eigen::RowVectorXf output = rows_of(*step.rows).colwise().sum();
    step.norm =
        FrozenNorm::of(attention, {output.data(), static_cast<std::size_t>(D)}, run.parameter(attention, 1));
    step.norm->apply(*step.rows);
}

void StreamWriters::pass_norm(const Reading& run, std::int64_t position, const Node& norm) {
    steps_.push_back({.writer = writers_.size(),
                      .rows = {},
                      .norm = FrozenNorm::of(norm, run.row(norm.inputs.front().node, position)->values(),
                                             run.parameter(norm, 1))});
    if (const TensorPtr bias = run.parameter(norm, 2); bias != nullptr)
        add({writer_of_bias(norm)}, copy_of(*bias));
}

Tensor StreamWriters::along(const Tensor& at_end) const {
    Tensor directions = copy_of(at_end);
    const std::int64_t D = directions.shape()[0], k = directions.shape()[1];
    Tensor out(Shape{std::ssize(writers_), k});
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step)
        if (step->rows) {
            const std::int64_t count = step->rows->shape()[0];
            MutableRows(out.data() + out.offset(static_cast<std::int64_t>(step->writer), 0), count, k) =
                ConstRows(step->rows->data(), count, D) * ConstRows(directions.data(), D, k);
        } else {
            step->norm->turn_back(directions);
        }
    return out;
}

std::vector<std::vector<float>> StreamWriters::by_source(const Tensor& at_end) const {
    Tensor direction = copy_of(at_end);
    std::vector<std::vector<float>> parts(writers_.size());
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
        if (!step->rows) {
            step->norm->turn_back(direction);
            continue;
        }
        if (!step->heads)
            continue;
        Tensor written = copy_of(direction);
        if (step->norm)
            step->norm->turn_back(written);
        const Tensor towards(Shape{1, written.count()}, written.values());
        for (std::int64_t h = 0; h < step->heads->weights->shape()[1]; ++h) {
            const Tensor each = parts_by_source(*step->heads, h, towards);
            parts[step->writer + static_cast<std::size_t>(h)].assign(each.values().begin(),
                                                                     each.values().end());
        }
    }
    return parts;
}

} // namespace headscope::analysis
