#include "core/analysis/passed_on.h"

#include "core/tensor/views.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>

namespace headscope::analysis {

namespace {

/// The graph of layers 0 to l: vertex (n + 1) T + i is row i of layer n, vertex j is input token j.
class FlowGraph {
public:
    FlowGraph(std::int64_t T, const std::vector<std::vector<float>>& mixed, std::int64_t l)
        : graph_(static_cast<std::size_t>((l + 2) * T)) {
        for (std::int64_t n = 0; n <= l; ++n) {
            const ConstRows layer(mixed[static_cast<std::size_t>(n)].data(), T, T);
            for (std::int64_t i = 0; i < T; ++i)
                for (std::int64_t j = 0; j < T; ++j)
                    if (layer(i, j) > 0)
                        connect(static_cast<std::size_t>((n + 1) * T + i),
                                static_cast<std::size_t>(n * T + j), static_cast<double>(layer(i, j)));
        }
    }

    double between(std::int64_t from, std::int64_t to) {
        return boost::boykov_kolmogorov_max_flow(graph_, static_cast<std::size_t>(from),
                                                 static_cast<std::size_t>(to));
    }

private:
    using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::bidirectionalS>;
    template<class Tag, class Value, class Next = boost::no_property>
    using Property = boost::property<Tag, Value, Next>;
    using Vertex = Property<boost::vertex_color_t, boost::default_color_type,
                            Property<boost::vertex_distance_t, long,
                                     Property<boost::vertex_predecessor_t, Traits::edge_descriptor>>>;
    using Edge = Property<boost::edge_capacity_t, double,
                          Property<boost::edge_residual_capacity_t, double,
                                   Property<boost::edge_reverse_t, Traits::edge_descriptor>>>;
    using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, Vertex, Edge>;

    void connect(std::size_t from, std::size_t to, double capacity) {
        const auto there = boost::add_edge(from, to, graph_).first,
                   back = boost::add_edge(to, from, graph_).first;
        boost::put(boost::edge_capacity, graph_, there, capacity);
        boost::put(boost::edge_capacity, graph_, back, 0.0);
        boost::put(boost::edge_reverse, graph_, there, back);
        boost::put(boost::edge_reverse, graph_, back, there);
    }

    Graph graph_;
};

} // namespace

const PassedOn::Numbers& PassedOn::mixed(std::int64_t l) {
    for (std::int64_t n = std::ssize(mixed_); n <= l; ++n) {
        Numbers numbers(static_cast<std::size_t>(T_ * T_));
        mean_of_(n, numbers);
        MutableRows layer(numbers.data(), T_, T_);
        layer.diagonal().array() += 1.0F;
        layer.array().colwise() /= layer.rowwise().sum().array().eval();
        mixed_.push_back(std::move(numbers));
    }
    return mixed_[static_cast<std::size_t>(l)];
}

void PassedOn::rollout(std::int64_t l, std::span<float> to) {
    const std::scoped_lock lock(mutex_);
    for (std::int64_t n = std::ssize(rolled_); n <= l; ++n) {
        const ConstRows layer(mixed(n).data(), T_, T_);
        Numbers next(static_cast<std::size_t>(T_ * T_));
        MutableRows rolled(next.data(), T_, T_);
        if (n == 0)
            rolled = layer;
        else
            rolled.noalias() = layer * ConstRows(rolled_.back().data(), T_, T_);
        rolled_.push_back(std::move(next));
    }
    std::ranges::copy(rolled_[static_cast<std::size_t>(l)], to.begin());
}

void PassedOn::flow(std::int64_t l, std::span<float> to, const Progress* stop) {
    const std::scoped_lock lock(mutex_);
    mixed(l);
    FlowGraph graph(T_, mixed_, l);
    MutableRows flows(to.data(), T_, T_);
    for (std::int64_t i = 0; i < T_; ++i) {
        if (stop != nullptr)
            stop->check();
        for (std::int64_t j = 0; j < T_; ++j)
            flows(i, j) = static_cast<float>(graph.between((l + 1) * T_ + i, j));
        flows.row(i) /= flows.row(i).sum();
    }
}

} // namespace headscope::analysis
