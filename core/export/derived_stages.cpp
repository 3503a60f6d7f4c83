#include "core/export/derived_stages.h"

#include "core/checkpoint/graph/model_stages.h"
#include "core/checkpoint/model/model_edits.h"

#include <algorithm>
#include <numeric>

namespace headscope::exporting {

namespace {

using checkpoint::AttentionPlace;
using checkpoint::NodeRun;

constexpr std::string_view chosen = "chosen", expert_out = "expert_out";

/// The nodes that a derived stage is made of; other names are nodes themselves.
std::vector<std::string> sources_of(const std::string& name) {
    if (name == chosen)
        return {"routing"};
    if (name == expert_out)
        return {"routing", "expert_act"};
    return {name};
}

/// The nodes that a run kept of one layer, or of what is around the layers of a stack.
class KeptNodes {
public:
    KeptNodes(const checkpoint::Model& model, const checkpoint::ForwardResult& result, AttentionPlace place)
        : model_(model), result_(result), place_(place) {}

    const Tensor* find(std::string_view name) const {
        const TensorPtr* const found = pointer(name);
        return found == nullptr ? nullptr : found->get();
    }

    void add(const std::string& name, NodeStages& to) const {
        if (name == chosen) {
            add_chosen(to);
        } else if (name == expert_out) {
            add_expert_out(to);
        } else if (const TensorPtr* const tensor = pointer(name)) {
            to.tensors.push_back({.info = nullptr, .tensor = *tensor, .title = in_file(name)});
        }
    }

private:
    const TensorPtr* pointer(std::string_view name) const {
        const auto found = std::ranges::find_if(
            result_.nodes, [&](const NodeRun& node) { return node.place == place_ && node.name == name; });
        return found == result_.nodes.end() ? nullptr : &found->tensor;
    }
    std::string in_file(std::string_view name) const {
        return layer_prefix(model_.config(), place_) + std::string(name);
    }
    std::int64_t used() const { return model_.stages().route(place_).used; }

    /// The experts of each token, (B T) rows of used().
    std::vector<std::int64_t> chosen_experts(const Tensor& routing) const {
        const std::int64_t experts = routing.shape().back(0);
        std::vector<std::int64_t> numbers;
        std::vector<std::int64_t> order(static_cast<std::size_t>(experts));
        for (std::int64_t row = 0; row < routing.count() / experts; ++row) {
            const float* const fractions = routing.data() + row * experts;
            std::iota(order.begin(), order.end(), std::int64_t{0});
            std::ranges::stable_sort(order, std::ranges::greater(),
                                     [&](std::int64_t expert) { return fractions[expert]; });
            numbers.insert(numbers.end(), order.begin(), order.begin() + used());
        }
        return numbers;
    }

    void add_chosen(NodeStages& to) const {
        if (const Tensor* const routing = find("routing"))
            to.integers.push_back({in_file(chosen),
                                   chosen_experts(*routing),
                                   {routing->shape()[0], routing->shape()[1], used()}});
    }

    void add_expert_out(NodeStages& to) const {
        const Tensor* const routing = find("routing");
        const Tensor* const act = find("expert_act");
        if (routing == nullptr || act == nullptr)
            return;
        const std::int64_t n = attention_number(model_.config(), place_);
        const checkpoint::WeightSet weights =
            checkpoint::with_edits(model_.layer(n), checkpoint::edits_of(result_.edits, n));
        const std::vector<std::int64_t> experts = chosen_experts(*routing);
        const std::int64_t count = routing->shape().back(0), width = act->shape().back(0),
                           D = in_stack(model_.config(), place_.stack).D;
        const auto out = std::make_shared<Tensor>(Shape{routing->shape()[0], routing->shape()[1], used(), D});
        for (std::size_t at = 0; at < experts.size(); ++at) {
            const std::int64_t row = static_cast<std::int64_t>(at) / used();
            const TensorPtr W = weights.row(TensorId::expert_W_out, experts[at]),
                            b = weights.row(TensorId::expert_b_out, experts[at]);
            const float* const units = act->data() + (row * count + experts[at]) * width;
            for (std::int64_t c = 0; c < D; ++c) {
                double sum = b == nullptr ? 0.0 : static_cast<double>(b->data()[c]);
                for (std::int64_t u = 0; u < width; ++u)
                    sum += static_cast<double>(units[u]) * static_cast<double>(W->data()[u * D + c]);
                out->data()[static_cast<std::int64_t>(at) * D + c] = static_cast<float>(sum);
            }
        }
        to.tensors.push_back({.info = nullptr, .tensor = out, .title = in_file(expert_out)});
    }

    const checkpoint::Model& model_;
    const checkpoint::ForwardResult& result_;
    AttentionPlace place_;
};

} // namespace

std::vector<std::string> nodes_to_keep(std::span<const std::string> names) {
    std::vector<std::string> nodes;
    for (const std::string& name : names)
        for (const std::string& source : sources_of(name))
            if (std::ranges::find(nodes, source) == nodes.end())
                nodes.push_back(source);
    return nodes;
}

NodeStages select_nodes(const checkpoint::Model& model, const checkpoint::ForwardResult& result,
                        std::span<const std::string> names) {
    NodeStages out;
    std::vector<AttentionPlace> places;
    for (const NodeRun& node : result.nodes)
        if (std::ranges::find(places, node.place) == places.end())
            places.push_back(node.place);
    for (const AttentionPlace place : places)
        for (const std::string& name : names)
            KeptNodes(model, result, place).add(name, out);
    return out;
}

} // namespace headscope::exporting
