#pragma once

#include "core/checkpoint/graph/text_graph.h"
#include "core/checkpoint/graph/workshop.h"
#include "core/run/row_run.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headscope::checkpoint {

/// The node that leaves the last layer of a stack, own or encoder, before the final norm if there is one.
std::string last_stream_node(const TextGraph& text, Stack stack = Stack::own);
/// The node of a stack's output, of the model's own Hugging Face's last hidden state.
std::string last_hidden_node(const TextGraph& text, Stack stack = Stack::own);

/// What a model computes from rows that stand in place of those of a node, in nodes that follow it row by
/// row: final norm and logits of any residual stream, the output of an MLP. For one thread at a time.
class FromRows {
public:
    /// from: the node that the rows replace. captures: the nodes to compute.
    FromRows(TextGraphPtr text, const ModelEdits& edits, std::string from, std::vector<std::string> captures,
             std::shared_ptr<Workshop> workshop = std::make_shared<Workshop>());

    /// rows: (1, n, D). The same rows of each captured node: (1, n, width). Throws what run::run throws.
    std::map<std::string, TensorPtr> of(const TensorPtr& rows, Progress& progress);

private:
    TextGraphPtr text_;
    std::string from_;
    std::vector<std::string> captures_;
    std::shared_ptr<Workshop> workshop_;
    run::RowRun run_;
};

} // namespace headscope::checkpoint
