#pragma once

#include "core/graph/graph.h"
#include "core/run/head_set.h"

#include <vector>

namespace headscope::run {

/// The heads of a node that depend on heads of one of its inputs, as the operation's `reads` states them.
class Spread {
public:
    Spread(const graph::Graph& graph, graph::NodeId node, std::size_t input);

    /// The heads of the node that read any of these heads of the input.
    HeadSet readers_of(HeadSet input) const {
        if (input == 0)
            return 0;
        if (kind_ == Kind::all)
            return all_;
        return kind_ == Kind::same ? input : through_table(input);
    }
    /// The heads of the input that these heads of the node read.
    HeadSet read_by(HeadSet heads) const {
        if (heads == 0)
            return 0;
        if (kind_ == Kind::all)
            return all_of_input_;
        return kind_ == Kind::same ? heads : through_table_back(heads);
    }

private:
    enum class Kind : std::uint8_t {
        all,  ///< every head reads every head
        same, ///< head h reads head h
        table
    };
    HeadSet through_table(HeadSet input) const;
    HeadSet through_table_back(HeadSet heads) const;

    Kind kind_ = Kind::all;
    HeadSet all_ = 1, all_of_input_ = 1;
    std::vector<HeadSet> read_; ///< for each bit of the node
};

} // namespace headscope::run
